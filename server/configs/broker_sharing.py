"""Settings of a broker: share groups and the state of share partitions (KIP-932).

Rows only; `table.py` describes their format.
"""

ROWS = """
group.share.session.timeout.ms  int  45000  medium  >=1
    Session timeout of members of share groups (ms).
group.share.min.session.timeout.ms  int  45000  medium  >=1
    Least session timeout that a share group may be given (ms).
group.share.max.session.timeout.ms  int  60000  medium  >=1
    Greatest session timeout that a share group may be given (ms).
group.share.heartbeat.interval.ms  int  5000  medium  >=1
    Heartbeat interval given to members of share groups (ms).
group.share.min.heartbeat.interval.ms  int  5000  medium  >=1
    Least heartbeat interval that a share group may be given (ms).
group.share.max.heartbeat.interval.ms  int  15000  medium  >=1
    Greatest heartbeat interval that a share group may be given (ms).
group.share.max.size  int  200  medium  1..1000
    Members that one share group may have.
group.share.assignors  list  simple  medium  nonempty
    The one server-side assignor of share groups, a name or a class name.
group.share.assignment.interval.ms  int  1000  medium  cluster-wide  >=0
    Least time between two assignments of a share group (ms).
group.share.min.assignment.interval.ms  int  0  medium  >=0
    Least assignment interval that a share group may be given (ms).
group.share.max.assignment.interval.ms  int  15000  medium  >=0
    Greatest assignment interval that a share group may be given (ms).
group.share.assignor.offload.enable  boolean  true  medium  cluster-wide  internal
    Whether assignments of share groups are computed on background threads.
group.share.initialize.retry.interval.ms  int  30000  low  internal  >=1
    Time after which the setting up of a share partition is tried again (ms).
group.share.delivery.count.limit  int  5  medium  2..10
    How often a record is delivered to a share group before it is given up.
group.share.min.delivery.count.limit  int  2  medium  2..5
    Least delivery count limit that a share group may be given.
group.share.max.delivery.count.limit  int  10  medium  5..25
    Greatest delivery count limit that a share group may be given.
group.share.record.lock.duration.ms  int  30000  medium  1000..3600000
    How long an acquired record stays locked to its consumer (ms).
group.share.min.record.lock.duration.ms  int  15000  medium  1000..30000
    Least lock duration that a share group may be given (ms).
group.share.max.record.lock.duration.ms  int  60000  medium  30000..3600000
    Greatest lock duration that a share group may be given (ms).
group.share.partition.max.record.locks  int  2000  medium  100..10000
    Records in flight per share partition.
group.share.min.partition.max.record.locks  int  100  medium  100..2000
    Least limit of records in flight that a share group may be given.
group.share.max.partition.max.record.locks  int  4000  medium  2000..10000
    Greatest limit of records in flight that a share group may be given.
share.fetch.purgatory.purge.interval.requests  int  1000  medium
    Finished share fetches after which the purgatory is swept.
group.share.max.share.sessions  int  2000  medium  >=1
    Share sessions that a broker keeps.
group.share.persister.class.name  string  org.apache.kafka.server.share.persister.DefaultStatePersister  medium  \
internal
    Class that stores the state of share partitions.
group.share.dlq.manager.class.name  string  org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager  medium  \
internal
    Class that writes records to dead-letter queues; empty for one that only logs them.
errors.deadletterqueue.auto.create.topics.enable  boolean  false  medium  cluster-wide
    Whether a missing dead-letter topic is created.
errors.deadletterqueue.topic.name.prefix  string  dlq.  medium  cluster-wide
    How the name of a topic must begin that is to be a dead-letter queue.
share.coordinator.state.topic.num.partitions  int  50  high  >=1
    Partitions of __share_group_state.
share.coordinator.state.topic.replication.factor  short  3  high  >=1
    Replicas of __share_group_state.
share.coordinator.state.topic.min.isr  short  2  high  >=1
    Least in-sync replicas of __share_group_state.
share.coordinator.state.topic.segment.bytes  int  104857600  high  >=1
    Segment size of __share_group_state.
share.coordinator.threads  int  1  medium  >=1
    Threads that run the share coordinators.
share.coordinator.snapshot.update.records.per.snapshot  int  500  medium  0..500
    Update records between two snapshot records of a share partition.
share.coordinator.load.buffer.size  int  5242880  high  >=1
    Bytes read at once when share state is loaded from its topic.
share.coordinator.state.topic.compression.codec  int  0  high
    Compression id of batches in __share_group_state; 0 is none.
share.coordinator.append.linger.ms  int  -1  medium  >=-1
    How long share state records wait to be written together (ms); -1 adapts to the load.
share.coordinator.write.timeout.ms  int  5000  high  >=1
    How long a write of share state may wait for its replicas (ms).
share.coordinator.state.topic.prune.interval.ms  int  300000  low  internal  >=1
    Time between two prunings of __share_group_state (ms).
share.coordinator.cold.partition.snapshot.interval.ms  int  300000  low  internal  >=1
    Time after which a quiet share partition is written as a snapshot again (ms).
share.coordinator.cached.buffer.max.bytes  int  1048588  medium  cluster-wide  >=524288
    Largest write buffer that the share coordinator keeps for its next append.
"""
