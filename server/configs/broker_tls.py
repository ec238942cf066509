"""Settings of a broker: TLS.

Rows only; `table.py` describes their format.
"""

ROWS = """
ssl.client.auth  string  none  medium  per-broker  in:required,requested,none
    Whether clients must show a certificate: required, requested or none.
ssl.principal.mapping.rules  string  DEFAULT  low
    Rules that turn the name in a certificate into a principal.
ssl.allow.dn.changes  boolean  false  low
    Whether a reloaded keystore may carry another distinguished name.
ssl.allow.san.changes  boolean  false  low
    Whether a reloaded keystore may carry other alternative names.
ssl.protocol  string  TLSv1.3  medium  per-broker
    The TLS protocol of the SSL context.
ssl.provider  string  null  medium  per-broker
    The Java security provider for TLS.
ssl.enabled.protocols  list  TLSv1.2,TLSv1.3  medium  per-broker
    TLS versions that are offered.
ssl.keystore.type  string  JKS  medium  per-listener
    Format of the keystore.
ssl.keystore.location  string  null  medium  per-listener
    File of the keystore.
ssl.keystore.password  password  null  medium  per-listener
    Password of the keystore file.
ssl.key.password  password  null  medium  per-listener
    Password of the private key.
ssl.keystore.key  password  null  medium  per-listener
    The private key itself, as PEM.
ssl.keystore.certificate.chain  password  null  medium  per-listener
    The certificate chain itself, as PEM.
ssl.truststore.type  string  JKS  medium  per-listener
    Format of the truststore.
ssl.truststore.location  string  null  medium  per-listener
    File of the truststore.
ssl.truststore.password  password  null  medium  per-listener
    Password of the truststore file.
ssl.truststore.certificates  password  null  medium  per-listener
    The trusted certificates themselves, as PEM.
ssl.keymanager.algorithm  string  SunX509  medium  per-broker
    Java's algorithm for the key manager.
ssl.trustmanager.algorithm  string  PKIX  medium  per-broker
    Java's algorithm for the trust manager.
ssl.endpoint.identification.algorithm  string  https  low  per-broker
    How this node checks the host names of servers that it connects to; empty for not at all.
ssl.secure.random.implementation  string  null  low  per-broker
    Java's random source for TLS.
ssl.cipher.suites  list  ""  medium  per-broker
    Cipher suites that are offered; empty for the default ones.
ssl.engine.factory.class  class  null  low  per-broker
    Class that makes TLS engines.
"""
