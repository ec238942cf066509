"""Settings of a broker: the node, the quorum of controllers, the metadata log (KIP-595, KIP-853),
and the periodic tasks of a controller.

Rows only; `table.py` describes their format.
"""

ROWS = """
process.roles  list  required  high  in:broker,controller  nonempty
    What this node is: broker, controller or both.
node.id  int  required  high  >=0
    The id of this node, unique among all brokers and controllers.
broker.id  int  -1  high
    Old name of node.id; when both are set they must agree.
broker.rack  string  null  medium
    Where the broker stands, for placement of replicas and for fetching from the nearest.
initial.broker.registration.timeout.ms  int  60000  medium
    How long a starting broker tries to register (ms).
broker.heartbeat.interval.ms  int  2000  medium
    Time between two heartbeats of a broker (ms).
broker.session.timeout.ms  int  9000  medium
    Silence after which a broker counts as gone (ms).
controlled.shutdown.enable  boolean  true  medium
    Whether a stopping broker first gives its leaderships away.
server.max.startup.time.ms  long  9223372036854775807  medium  internal  >=0
    Longest time that a start may take (ms).
controller.listener.names  list  required  high  nonempty
    Names of the listeners of the controller.
controller.socket.timeout.ms  int  30000  medium
    How long a broker waits for the controller's answers (ms).
controller.performance.sample.period.ms  long  60000  medium  internal  >=100
    Period over which slow controller events are counted (ms).
controller.performance.always.log.threshold.ms  long  2000  medium  internal  >=0
    Duration from which a controller event is always logged (ms).
controller.quorum.voters  list  ""  high  voters
    The voters of a static quorum: a list of ID@HOST:PORT.
controller.quorum.bootstrap.servers  list  ""  high  endpoints
    Where a dynamic quorum is found: a list of HOST:PORT.
controller.quorum.election.timeout.ms  int  1000  high  >=0
    How long a candidate waits for votes (ms).
controller.quorum.fetch.timeout.ms  int  2000  high  >=0
    How long a follower goes without its leader, or a leader without a majority (ms).
controller.quorum.election.backoff.max.ms  int  1000  high  >=0
    Longest pause between two lost elections (ms).
controller.quorum.append.linger.ms  int  25  medium  >=0
    How long the leader waits to write records together (ms).
controller.quorum.request.timeout.ms  int  2000  medium  >=0
    How long a node of the quorum waits for an answer (ms).
controller.quorum.retry.backoff.ms  int  20  low  >=0
    Pause before a failed request of the quorum is sent again (ms).
controller.quorum.auto.join.enable  boolean  false  low
    Whether a controller that is not a voter makes itself one.
controller.quorum.fetch.snapshot.max.bytes  int  1048576  low  >=1
    Most bytes requested in one FetchSnapshot.
controller.quorum.fetch.max.bytes  int  1048576  low  >=1
    Most bytes requested in one Fetch of the metadata log.
metadata.log.max.record.bytes.between.snapshots  long  20971520  high  >=1
    Bytes of metadata records after which a snapshot is written.
metadata.log.max.snapshot.interval.ms  long  3600000  high  >=0
    Time after which a snapshot is written if anything changed (ms); 0 for never.
metadata.log.dir  string  null  high
    Folder of the metadata log; when not set, the first log folder.
metadata.log.segment.bytes  int  1073741824  high  >=8388608
    Size at which a segment of the metadata log is closed.
metadata.log.segment.ms  long  604800000  high
    Age at which a segment of the metadata log is closed (ms).
metadata.max.retention.bytes  long  104857600  high
    Size of metadata log and snapshots above which old ones are deleted.
metadata.max.retention.ms  long  604800000  high
    Age at which old metadata segments and snapshots are deleted (ms).
metadata.max.idle.interval.ms  int  500  low  >=0
    Time between two no-op records of an idle controller (ms); 0 for none.
internal.metadata.log.segment.bytes  int  null  low  internal
    Segment size of the metadata log, without the lower bound; for tests.
internal.metadata.max.batch.size.in.bytes  int  8388608  low  internal
    Largest batch in the metadata log.
internal.metadata.delete.delay.millis  long  60000  low  internal
    Time between taking a metadata segment out and deleting its file (ms).
auto.leader.rebalance.enable  boolean  true  high
    Whether leadership goes back to preferred replicas by itself.
leader.imbalance.check.interval.seconds  long  300  high  >=1
    Time between two searches for leaders that are not the preferred ones (s).
unclean.leader.election.interval.ms  long  300000  medium  internal  >=1
    Time between two searches for partitions that need an unclean election (ms).
"""
