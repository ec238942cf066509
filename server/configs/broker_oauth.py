"""Settings of a broker: OAUTHBEARER (KIP-768, KIP-1139).

Rows only; `table.py` describes their format.
"""

ROWS = """
sasl.oauthbearer.jwt.retriever.class  class  org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever  medium
    Class that fetches this node's own token.
sasl.oauthbearer.jwt.validator.class  class  org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator  medium
    Class that checks tokens.
sasl.oauthbearer.scope  string  null  medium
    Scope that this node asks for in its own token.
sasl.oauthbearer.client.credentials.client.id  string  null  medium
    Client id with which this node fetches its own token.
sasl.oauthbearer.client.credentials.client.secret  password  null  medium
    Secret that goes with that client id.
sasl.oauthbearer.assertion.algorithm  string  RS256  medium  any-case:ES256,RS256
    Algorithm that signs the assertion with which a token is fetched.
sasl.oauthbearer.assertion.claim.aud  string  null  medium
    Audience claim of the assertion.
sasl.oauthbearer.assertion.claim.exp.seconds  int  300  low  0..86400
    Life of the assertion (s).
sasl.oauthbearer.assertion.claim.iss  string  null  medium
    Issuer claim of the assertion.
sasl.oauthbearer.assertion.claim.jti.include  boolean  false  medium
    Whether the assertion carries an id of its own.
sasl.oauthbearer.assertion.claim.nbf.seconds  int  60  low  0..3600
    How far before now the assertion becomes valid (s).
sasl.oauthbearer.assertion.claim.sub  string  null  medium
    Subject claim of the assertion.
sasl.oauthbearer.assertion.file  string  null  medium
    File with a ready assertion.
sasl.oauthbearer.assertion.private.key.file  string  null  medium
    File with the key that signs the assertion.
sasl.oauthbearer.assertion.private.key.passphrase  password  null  medium
    Passphrase of that key.
sasl.oauthbearer.assertion.template.file  string  null  medium
    File with the header and claims that every assertion gets.
sasl.oauthbearer.scope.claim.name  string  scope  low
    Claim that holds the scope of a token.
sasl.oauthbearer.sub.claim.name  string  sub  low
    Claim that holds the principal of a token.
sasl.oauthbearer.token.endpoint.url  string  null  medium
    Where this node fetches its own token.
sasl.oauthbearer.jwks.endpoint.url  string  null  medium
    Where the keys are found that tokens are checked with.
sasl.oauthbearer.jwks.endpoint.refresh.ms  long  3600000  low
    Time after which those keys are fetched again (ms).
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms  long  100  low
    First pause between tries to fetch those keys (ms).
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms  long  10000  low
    Longest pause between tries to fetch those keys (ms).
sasl.oauthbearer.clock.skew.seconds  int  30  low
    Difference between clocks that a token is forgiven (s).
sasl.oauthbearer.allow.unverified.audience  boolean  false  medium
    Whether a token's audience may go unchecked.
sasl.oauthbearer.expected.audience  list  ""  high
    Audiences that a token may be for.
sasl.oauthbearer.allow.unverified.issuer  boolean  false  medium
    Whether a token's issuer may go unchecked.
sasl.oauthbearer.expected.issuer  string  null  high
    The issuer that a token must name.
"""
