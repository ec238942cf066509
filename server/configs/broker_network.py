"""Settings of a broker: listeners, sockets, requests, threads and the authorizer.

Rows only; `table.py` describes their format.
"""

ROWS = """
listeners  list  PLAINTEXT://:9092  high  per-broker  nonempty
    Where the node listens: a list of NAME://HOST:PORT; an empty host means every address.
advertised.listeners  list  null  high  nonempty
    The addresses that clients connect to; when not set, where the node listens.
listener.security.protocol.map  string  SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT  \
low  per-broker
    The security protocol of every listener name.
inter.broker.listener.name  string  null  medium
    The listener that brokers use among themselves.
early.start.listeners  list  null  high
    Listeners that take requests before the authorizer has started.
socket.send.buffer.bytes  int  102400  high
    Send buffer of server sockets (SO_SNDBUF); -1 leaves it to the system.
socket.receive.buffer.bytes  int  102400  high
    Receive buffer of server sockets (SO_RCVBUF); -1 leaves it to the system.
socket.request.max.bytes  int  104857600  high  >=1
    Largest request that is read from a socket.
socket.listen.backlog.size  int  50  medium  >=1
    Connections that may wait to be accepted.
max.connections.per.ip  int  2147483647  medium  cluster-wide  >=0
    Open connections that one address may have.
max.connections.per.ip.overrides  string  ""  medium  cluster-wide
    Other limits for single addresses: a list of HOST:COUNT.
max.connections  int  2147483647  medium  cluster-wide  >=0
    Open connections of the whole broker.
max.connection.creation.rate  int  2147483647  medium  cluster-wide  >=0
    New connections per second of the whole broker.
connections.max.idle.ms  long  600000  medium
    Silence after which a connection is closed (ms).
connection.failed.authentication.delay.ms  int  100  low  >=0
    How long a connection stays open after its authentication failed (ms).
queued.max.requests  int  500  high  >=1
    Requests that may wait for a thread before sockets are no longer read.
queued.max.request.bytes  long  -1  medium
    Bytes of requests that may wait for a thread; -1 for no limit.
num.network.threads  int  3  high  cluster-wide  >=1
    Threads per listener that read and write sockets.
num.io.threads  int  8  high  cluster-wide  >=1
    Threads that work on requests.
background.threads  int  10  high  cluster-wide  >=1
    Threads for tasks in the background.
request.timeout.ms  int  30000  high
    How long this node waits for answers from other nodes (ms).
socket.connection.setup.timeout.ms  long  10000  medium
    How long a new connection to another node may take (ms).
socket.connection.setup.timeout.max.ms  long  30000  medium
    Where the doubling of that time ends (ms).
max.incremental.fetch.session.cache.slots  int  1000  medium  >=0
    Incremental fetch sessions that a broker keeps.
fetch.max.bytes  int  57671680  medium  >=1024
    Most bytes that one fetch is answered with.
max.request.partition.size.limit  int  2000  medium  >=1
    Partitions that one DescribeTopicPartitions answer may hold.
unstable.api.versions.enable  boolean  false  high  internal
    Whether versions of APIs still in development are offered.
unstable.feature.versions.enable  boolean  false  high  internal
    Whether versions of features still in development are offered.
config.providers  list  ""  low  cluster-wide
    Names of the config providers that fill variables in other settings.
authorizer.class.name  string  ""  low
    Class that decides what a principal may do; empty for no ACLs.
"""
