"""Settings of a broker: SASL, principals and delegation tokens.

Rows only; `table.py` describes their format.
"""

ROWS = """
security.inter.broker.protocol  string  PLAINTEXT  medium  in:PLAINTEXT,SSL,SASL_PLAINTEXT,SASL_SSL
    Security protocol among brokers, when inter.broker.listener.name is not set.
security.providers  string  null  low
    Classes that bring Java security providers.
principal.builder.class  class  org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder  medium  \
per-broker
    Class that turns an authenticated connection into a principal.
connections.max.reauth.ms  long  0  medium
    Longest life of a SASL session before the client must authenticate again (ms); 0 for no limit.
sasl.server.max.receive.size  int  524288  medium
    Largest message of a SASL handshake that is taken.
sasl.mechanism.inter.broker.protocol  string  GSSAPI  medium  per-broker
    SASL mechanism among brokers.
sasl.mechanism.controller.protocol  string  GSSAPI  high
    SASL mechanism towards controllers.
sasl.enabled.mechanisms  list  GSSAPI  medium  per-broker
    SASL mechanisms that are offered.
sasl.jaas.config  password  null  medium  per-broker
    Login of a listener and mechanism in JAAS form; with users and passwords for PLAIN.
sasl.server.callback.handler.class  class  null  medium
    Class that checks the credentials of clients.
sasl.client.callback.handler.class  class  null  medium
    Class that supplies this node's credentials towards others.
sasl.login.class  class  null  medium
    Class of this node's own login.
sasl.login.callback.handler.class  class  null  medium
    Class that supplies the credentials of this node's own login.
sasl.kerberos.service.name  string  null  medium  per-broker
    Kerberos service name of the brokers.
sasl.kerberos.kinit.cmd  string  /usr/bin/kinit  medium  per-broker
    The kinit command.
sasl.kerberos.ticket.renew.window.factor  double  0.8  medium  per-broker
    Part of a ticket's life after which it is renewed.
sasl.kerberos.ticket.renew.jitter  double  0.05  medium  per-broker
    How much of the renewal time is random.
sasl.kerberos.min.time.before.relogin  long  60000  medium  per-broker
    Least time between two renewals of a ticket (ms).
sasl.kerberos.principal.to.local.rules  list  DEFAULT  medium  per-broker
    Rules that turn Kerberos principals into short names.
sasl.login.refresh.window.factor  double  0.8  medium  per-broker
    Part of a token's life after which it is refreshed.
sasl.login.refresh.window.jitter  double  0.05  medium  per-broker
    How much of the refresh time is random.
sasl.login.refresh.min.period.seconds  short  60  medium  per-broker
    Least time before a token is refreshed (s).
sasl.login.refresh.buffer.seconds  short  300  medium  per-broker
    Time before a token's end that its refresh should keep free (s).
sasl.login.connect.timeout.ms  int  null  low
    How long connecting to the identity provider may take (ms).
sasl.login.read.timeout.ms  int  null  low
    How long reading from the identity provider may take (ms).
sasl.login.retry.backoff.ms  long  100  low
    First pause between tries to reach the identity provider (ms).
sasl.login.retry.backoff.max.ms  long  10000  low
    Longest pause between tries to reach the identity provider (ms).
delegation.token.secret.key  password  null  medium
    Key with which delegation tokens are signed; none means no tokens.
delegation.token.max.lifetime.ms  long  604800000  medium  >=1
    Longest life of a delegation token (ms).
delegation.token.expiry.time.ms  long  86400000  medium  >=1
    Life of a delegation token until its next renewal (ms).
delegation.token.expiry.check.interval.ms  long  3600000  low  >=1
    Time between two searches for expired delegation tokens (ms).
"""
