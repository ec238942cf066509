"""The settings that have an effect here, as rows of `server.configs.table`: Kafka's names, types,
defaults and bounds for clients.

Rows only. The few that Kafka does not have are librdkafka's names for credentials and certificates.
"""

ROWS = """
bootstrap.servers  list  required  high  nonempty
    Addresses of brokers, HOST:PORT, from which the client finds the others.
client.id  string  kafkadouble  medium
    The name by which brokers know this client.
client.rack  string  ""  low
    Rack of this client; brokers may name a nearer replica to read from.
security.protocol  string  PLAINTEXT  medium  in:PLAINTEXT,SSL,SASL_PLAINTEXT,SASL_SSL
    Whether connections are encrypted (SSL), and whether the client authenticates (SASL).
sasl.mechanism  string  GSSAPI  medium
    How the client authenticates: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER.
sasl.jaas.config  password  null  medium
    Credentials as Kafka writes them: a login module with options.
sasl.username  string  null  medium
    The user's name, instead of sasl.jaas.config.
sasl.password  password  null  medium
    The user's password, instead of sasl.jaas.config.
sasl.oauthbearer.token.endpoint.url  string  null  medium
    A file: URL of a token, for OAUTHBEARER.
ssl.truststore.type  string  JKS  medium
    Format of the truststore; only PEM can be read.
ssl.truststore.location  string  null  high
    File with the trusted certificates; without it, those of the system are trusted.
ssl.truststore.certificates  password  null  high
    The trusted certificates themselves, as PEM.
ssl.truststore.password  password  null  high
    Password of the truststore; PEM has none.
ssl.ca.location  string  null  high
    Another name for ssl.truststore.location, of a PEM file.
ssl.keystore.type  string  JKS  medium
    Format of the keystore; only PEM can be read.
ssl.keystore.location  string  null  high
    File with this client's private key and certificate chain.
ssl.keystore.key  password  null  high
    The private key itself, as PEM.
ssl.keystore.certificate.chain  password  null  high
    The certificate chain itself, as PEM.
ssl.keystore.password  password  null  high
    Password of the keystore; a PEM keystore has only the password of its key.
ssl.key.password  password  null  high
    Password of the private key.
ssl.endpoint.identification.algorithm  string  https  low  in:https,
    How the broker's host name is checked against its certificate; empty for not at all.
ssl.enabled.protocols  list  TLSv1.2,TLSv1.3  medium
    TLS versions that are offered.
ssl.cipher.suites  list  ""  low
    Cipher suites of TLS 1.2 that are offered, by OpenSSL's names; empty for the default ones.
request.timeout.ms  int  30000  medium  >=1
    How long the response to one request may take.
default.api.timeout.ms  int  60000  medium  >=1
    How long a call may take, with all retries.
delivery.timeout.ms  int  120000  medium  >=1
    How long the delivery of one batch may take, with all retries.
socket.connection.setup.timeout.ms  long  10000  medium  >=1
    How long it may take to connect to one address.
retry.backoff.ms  long  100  low  >=0
    How long to wait before the first retry; the wait doubles each time.
retry.backoff.max.ms  long  1000  low  >=0
    The longest wait before a retry.
metadata.max.age.ms  long  300000  low  >=0
    How long metadata is used before it is requested again.
connections.max.idle.ms  long  540000  medium
    A connection that was idle for this long is not used any more; negative for no limit.
send.buffer.bytes  int  131072  medium  >=-1
    Size of the socket's send buffer; -1 for the system's choice.
receive.buffer.bytes  int  65536  medium  >=-1
    Size of the socket's receive buffer; the system's choice unless it is given.
fetch.min.bytes  int  1  high  >=0
    A broker answers a fetch as soon as it has this many bytes, or after fetch.max.wait.ms.
fetch.max.wait.ms  int  500  low  >=0
    How long a broker may wait for fetch.min.bytes.
fetch.max.bytes  int  52428800  medium  >=1024
    The largest number of bytes that a fetch asks for.
max.partition.fetch.bytes  int  1048576  high  >=0
    The largest number of bytes that a fetch asks for per partition; 16 MiB unless it is given.
isolation.level  string  read_uncommitted  medium  in:read_uncommitted,read_committed
    Whether records of open and aborted transactions are read.
exclude.internal.topics  boolean  true  medium
    Whether internal topics are left out of the list of all topics.
acks  string  all  low  in:all,-1,0,1
    Which replicas must have a batch before it counts as delivered.
enable.idempotence  boolean  true  low
    Whether a batch that is sent twice is stored once (KIP-98).
max.request.size  int  1048576  medium  >=0
    The largest number of bytes of batches in one request, which has at least one batch.
retries  int  2147483647  high  >=0
    How often a batch is sent again, within delivery.timeout.ms.
batch.size  int  16384  medium  >=0
    The largest size of a sink's batches before compression; 1,000,000 unless it is given.
buffer.memory  long  33554432  high  >=0
    A sink sends when it holds this many bytes of batches; 8 MiB at most.
compression.type  string  none  high  in:none,gzip,snappy,lz4,zstd
    The codec of the batches that a sink makes.
compression.gzip.level  int  -1  medium
    The level of gzip: 1 to 9, or -1 for its default.
compression.lz4.level  int  9  medium
    The level of lz4: 1 to 17.
compression.zstd.level  int  3  medium
    The level of zstd: -131072 to 22.
partitioner.ignore.keys  boolean  false  medium
    Whether a sink ignores keys when it chooses partitions.
"""
