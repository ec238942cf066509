"""Settings of a broker: classic, consumer and streams groups and their offsets (KIP-848, KIP-1071).

Rows only; `table.py` describes their format.
"""

ROWS = """
group.coordinator.rebalance.protocols  list  classic,consumer,streams  medium  in:consumer,classic,share,streams  \
nonempty
    Group protocols that this broker offers.
group.coordinator.threads  int  4  high  >=1
    Threads that run the group coordinators.
group.coordinator.background.threads  int  2  high  >=1
    Threads that compute assignments beside the coordinators.
group.coordinator.append.linger.ms  int  -1  medium  >=-1
    How long coordinator records wait to be written together (ms); -1 adapts to the load.
offsets.commit.timeout.ms  int  5000  high  >=1
    How long an offset commit may wait for its replicas (ms).
offsets.load.buffer.size  int  5242880  high  >=1
    Bytes read at once when offsets are loaded from their topic.
offsets.topic.replication.factor  short  3  high  >=1
    Replicas of __consumer_offsets.
offsets.topic.num.partitions  int  50  high  >=1
    Partitions of __consumer_offsets; a group lives in the one that its name hashes to.
offsets.topic.segment.bytes  int  104857600  high  >=1
    Segment size of __consumer_offsets.
offsets.topic.compression.codec  int  0  high
    Compression id of coordinator batches in __consumer_offsets; 0 is none.
group.coordinator.cached.buffer.max.bytes  int  1048588  medium  cluster-wide  >=524288
    Largest write buffer that the group coordinator keeps for its next append.
offset.metadata.max.bytes  int  4096  high
    Longest metadata text that may go with a committed offset.
offsets.retention.minutes  int  10080  high  >=1
    How long offsets outlive the last member, or the last commit of a group without members (minutes).
offsets.retention.check.interval.ms  long  600000  high  >=1
    Time between two searches for expired offsets (ms).
group.min.session.timeout.ms  int  6000  medium
    Shortest session timeout that a classic member may ask for (ms).
group.max.session.timeout.ms  int  1800000  medium
    Longest session timeout that a classic member may ask for (ms).
group.initial.rebalance.delay.ms  int  3000  medium
    How long the first rebalance of an empty classic group waits for more members (ms).
group.max.size  int  2147483647  medium  >=1
    Members that one classic group may have.
group.consumer.session.timeout.ms  int  45000  medium  >=1
    Session timeout of members of consumer groups (ms).
group.consumer.min.session.timeout.ms  int  45000  medium  >=1
    Least session timeout that a consumer group may be given (ms).
group.consumer.max.session.timeout.ms  int  60000  medium  >=1
    Greatest session timeout that a consumer group may be given (ms).
group.consumer.heartbeat.interval.ms  int  5000  medium  >=1
    Heartbeat interval given to members of consumer groups (ms).
group.consumer.min.heartbeat.interval.ms  int  5000  medium  >=1
    Least heartbeat interval that a consumer group may be given (ms).
group.consumer.max.heartbeat.interval.ms  int  15000  medium  >=1
    Greatest heartbeat interval that a consumer group may be given (ms).
group.consumer.max.size  int  2147483647  medium  >=1
    Members that one consumer group may have.
group.consumer.assignors  list  uniform,range  medium  nonempty
    Server-side assignors of consumer groups, names or class names; the first is the default.
group.consumer.migration.policy  string  bidirectional  medium  any-case:BIDIRECTIONAL,DISABLED,DOWNGRADE,UPGRADE
    Which way a group may change between the classic and the consumer protocol while it has members.
group.consumer.assignment.interval.ms  int  1000  medium  cluster-wide  >=0
    Least time between two assignments of a consumer group (ms).
group.consumer.min.assignment.interval.ms  int  0  medium  >=0
    Least assignment interval that a consumer group may be given (ms).
group.consumer.max.assignment.interval.ms  int  15000  medium  >=0
    Greatest assignment interval that a consumer group may be given (ms).
group.consumer.assignor.offload.enable  boolean  true  medium  cluster-wide  internal
    Whether assignments of consumer groups are computed on background threads.
group.consumer.regex.refresh.interval.ms  int  600000  medium  internal  >=10000
    Time after which a subscribed regular expression is matched against the topics again (ms).
group.streams.session.timeout.ms  int  45000  medium  >=1
    Session timeout of members of streams groups (ms).
group.streams.min.session.timeout.ms  int  45000  medium  >=1
    Least session timeout that a streams group may be given (ms).
group.streams.max.session.timeout.ms  int  60000  medium  >=1
    Greatest session timeout that a streams group may be given (ms).
group.streams.heartbeat.interval.ms  int  5000  medium  >=1
    Heartbeat interval given to members of streams groups (ms).
group.streams.min.heartbeat.interval.ms  int  5000  medium  >=1
    Least heartbeat interval that a streams group may be given (ms).
group.streams.max.heartbeat.interval.ms  int  15000  medium  >=1
    Greatest heartbeat interval that a streams group may be given (ms).
group.streams.max.size  int  2147483647  medium  >=1
    Members that one streams group may have.
group.streams.num.standby.replicas  int  0  medium  >=0
    Standby copies of every stateful task of a streams group.
group.streams.max.standby.replicas  int  2  medium  >=0
    Most standby copies that a streams group may be given.
group.streams.initial.rebalance.delay.ms  int  3000  medium  >=0
    How long the first assignment of a new streams group waits for more members (ms).
group.streams.assignment.interval.ms  int  1000  medium  cluster-wide  >=0
    Least time between two assignments of a streams group (ms).
group.streams.min.assignment.interval.ms  int  0  medium  >=0
    Least assignment interval that a streams group may be given (ms).
group.streams.max.assignment.interval.ms  int  15000  medium  >=0
    Greatest assignment interval that a streams group may be given (ms).
group.streams.assignors  list  sticky  medium  nonempty
    Task assignors of streams groups, names or class names; the first is the default.
group.streams.assignor.offload.enable  boolean  true  medium  cluster-wide  internal
    Whether assignments of streams groups are computed on background threads.
group.streams.task.offset.interval.ms  int  60000  medium  internal  >=1
    How often members of streams groups report the offsets of their tasks (ms).
group.streams.min.task.offset.interval.ms  int  15000  medium  internal  >=1
    Least task offset interval that a streams group may be given (ms).
group.streams.num.warmup.replicas  int  2  medium  internal  >=0
    Most warm-up tasks of a streams group at a time.
group.streams.max.warmup.replicas  int  20  medium  internal  >=0
    Most warm-up tasks that a streams group may be given.
group.streams.rack.aware.assignment.tags  list  ""  low
    Client tags over which the standby tasks of a streams group are spread.
group.streams.topology.description.plugin.class  class  null  medium
    Class that keeps the topology descriptions that streams members send.
group.streams.acceptable.recovery.lag  long  10000  medium  internal  >=0
    Lag (in offsets) at which a streams client counts as caught up with a task.
"""
