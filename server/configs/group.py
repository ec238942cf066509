"""The configurations of a group (KIP-1043), and the broker's configurations that give their
defaults.

`table.py` describes the format of a row.
"""

from .table import ConfigDef

ROWS = """
consumer.session.timeout.ms  int  45000  medium  >=1  <group.consumer.session.timeout.ms
    Session timeout of the members of a consumer group (ms).
consumer.heartbeat.interval.ms  int  5000  medium  >=1  <group.consumer.heartbeat.interval.ms
    Heartbeat interval of the members of a consumer group (ms).
consumer.assignment.interval.ms  int  1000  medium  >=0  <group.consumer.assignment.interval.ms
    Least time between two assignments of a consumer group (ms).
consumer.assignor.offload.enable  boolean  true  medium  internal  <group.consumer.assignor.offload.enable
    Whether the assignments of a consumer group are computed on background threads.
share.session.timeout.ms  int  45000  medium  >=1  <group.share.session.timeout.ms
    Session timeout of the members of a share group (ms).
share.heartbeat.interval.ms  int  5000  medium  >=1  <group.share.heartbeat.interval.ms
    Heartbeat interval of the members of a share group (ms).
share.record.lock.duration.ms  int  30000  medium  >=1000  <group.share.record.lock.duration.ms
    How long an acquired record stays locked to its consumer (ms).
share.delivery.count.limit  int  5  medium  >=2  <group.share.delivery.count.limit
    How often a record is delivered before it is given up.
share.partition.max.record.locks  int  2000  medium  >=100  <group.share.partition.max.record.locks
    Records in flight per share partition.
share.auto.offset.reset  string  latest  medium  reset
    Where a share group begins: latest, earliest or by_duration:PnDTnHnMn.nS before now.
share.isolation.level  string  read_uncommitted  medium  in:read_committed,read_uncommitted
    Whether a share group sees records of open and aborted transactions.
share.renew.acknowledge.enable  boolean  true  medium
    Whether consumers of a share group may renew their locks.
share.assignment.interval.ms  int  1000  medium  >=0  <group.share.assignment.interval.ms
    Least time between two assignments of a share group (ms).
share.assignor.offload.enable  boolean  true  medium  internal  <group.share.assignor.offload.enable
    Whether the assignments of a share group are computed on background threads.
streams.session.timeout.ms  int  45000  medium  >=1  <group.streams.session.timeout.ms
    Session timeout of the members of a streams group (ms).
streams.heartbeat.interval.ms  int  5000  medium  >=1  <group.streams.heartbeat.interval.ms
    Heartbeat interval of the members of a streams group (ms).
streams.num.standby.replicas  int  0  medium  >=0  <group.streams.num.standby.replicas
    Standby copies of every stateful task.
streams.initial.rebalance.delay.ms  int  3000  medium  >=0  <group.streams.initial.rebalance.delay.ms
    How long the first assignment of a new streams group waits for more members (ms).
streams.assignment.interval.ms  int  1000  medium  >=0  <group.streams.assignment.interval.ms
    Least time between two assignments of a streams group (ms).
streams.assignor.offload.enable  boolean  true  medium  internal  <group.streams.assignor.offload.enable
    Whether the assignments of a streams group are computed on background threads.
streams.task.offset.interval.ms  int  60000  medium  internal  >=1  <group.streams.task.offset.interval.ms
    How often members of a streams group report the offsets of their tasks (ms).
streams.num.warmup.replicas  int  2  medium  internal  >=0  <group.streams.num.warmup.replicas
    Most warm-up tasks at a time.
streams.rack.aware.assignment.tags  list  ""  low  <group.streams.rack.aware.assignment.tags
    Client tags over which standby tasks are spread.
streams.acceptable.recovery.lag  long  10000  medium  internal  >=0  <group.streams.acceptable.recovery.lag
    Lag (in offsets) at which a client counts as caught up with a task.
streams.assignor.name  string  null  medium  <group.streams.assignors
    The task assignor of the group, one of the broker's group.streams.assignors.
errors.deadletterqueue.topic.name  string  ""  medium
    Topic that takes the records that the group gives up; empty for none.
errors.deadletterqueue.copy.record.enable  boolean  false  medium
    Whether the record itself is copied there, not only what is known of its failure.
"""

GROUP = ConfigDef(lambda: iter((ROWS,)))
