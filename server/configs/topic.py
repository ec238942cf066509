"""The configurations of a topic, and the broker's configurations that give their defaults.

`table.py` describes the format of a row.
"""

from .table import ConfigDef

ROWS = """
segment.bytes  int  1073741824  medium  >=1048576  <log.segment.bytes
    Size at which a log segment is closed.
segment.ms  long  604800000  medium  >=1  <log.roll.ms  <log.roll.hours:hours
    Age at which a log segment is closed (ms).
segment.jitter.ms  long  0  medium  >=0  <log.roll.jitter.ms  <log.roll.jitter.hours:hours
    Most that is taken off the age of closing at random (ms).
segment.index.bytes  int  10485760  medium  >=4  <log.index.size.max.bytes
    Largest offset index.
flush.messages  long  9223372036854775807  medium  >=1  <log.flush.interval.messages
    Messages after which the partition is flushed to disk.
flush.ms  long  9223372036854775807  medium  >=0  <log.flush.interval.ms  <log.flush.scheduler.interval.ms
    Longest time that a message stays unflushed (ms).
retention.bytes  long  -1  medium  <log.retention.bytes
    Size above which a partition loses its oldest segments; -1 for no limit.
retention.ms  long  604800000  medium  >=-1  <log.retention.ms  <log.retention.minutes:minutes  \
<log.retention.hours:hours
    Age at which a closed segment is deleted (ms); -1 for never.
max.message.bytes  int  1048588  medium  >=0  <message.max.bytes
    Largest record batch that is taken.
max.decompressed.message.bytes  int  2147483639  medium  1..2147483639  <max.decompressed.message.bytes
    Largest record, decompressed, that is taken.
index.interval.bytes  int  4096  medium  >=0  <log.index.interval.bytes
    Bytes of log between two entries of the offset index.
delete.retention.ms  long  86400000  medium  >=0  <log.cleaner.delete.retention.ms
    How long tombstones stay in a compacted log (ms).
min.compaction.lag.ms  long  0  medium  >=0  <log.cleaner.min.compaction.lag.ms
    Age below which a record is not compacted away (ms).
max.compaction.lag.ms  long  9223372036854775807  medium  >=1  <log.cleaner.max.compaction.lag.ms
    Age above which a record makes its log worth compacting (ms).
file.delete.delay.ms  long  60000  medium  >=0  <log.segment.delete.delay.ms
    Time between taking a segment out of the log and deleting its files (ms).
min.cleanable.dirty.ratio  double  0.5  medium  0..1  <log.cleaner.min.cleanable.ratio
    Share of uncleaned bytes from which the log is worth compacting.
cleanup.policy  list  delete  medium  in:compact,delete  <log.cleanup.policy
    What happens to old segments: delete, compact, both, or (empty) nothing.
unclean.leader.election.enable  boolean  false  medium  <unclean.leader.election.enable
    Whether a replica that is not in sync may become leader when no other is left.
min.insync.replicas  int  1  medium  >=1  <min.insync.replicas
    Least in-sync replicas for a write with acks=all to be taken.
compression.type  string  producer  medium  in:uncompressed,zstd,lz4,snappy,gzip,producer  <compression.type
    How the broker keeps batches: as the producer compressed them, or in the codec named here.
compression.gzip.level  int  -1  medium  gzip-level  <compression.gzip.level
    Level of gzip when the broker compresses; -1 is gzip's own default.
compression.lz4.level  int  9  medium  1..17  <compression.lz4.level
    Level of lz4 when the broker compresses.
compression.zstd.level  int  3  medium  -131072..22  <compression.zstd.level
    Level of zstd when the broker compresses.
preallocate  boolean  false  medium  <log.preallocate
    Whether a new segment is given its full size on disk at once.
message.timestamp.type  string  CreateTime  medium  in:CreateTime,LogAppendTime  <log.message.timestamp.type
    Whose time a record carries: its producer's (CreateTime) or the broker's (LogAppendTime).
message.timestamp.before.max.ms  long  9223372036854775807  medium  >=0  <log.message.timestamp.before.max.ms
    How far a record's time may lie before the broker's (ms).
message.timestamp.after.max.ms  long  3600000  medium  >=0  <log.message.timestamp.after.max.ms
    How far a record's time may lie after the broker's (ms).
leader.replication.throttled.replicas  list  ""  medium  replicas
    Replicas throttled on the leader's side: a list of PARTITION:BROKER, or *.
follower.replication.throttled.replicas  list  ""  medium  replicas
    Replicas throttled on the follower's side: a list of PARTITION:BROKER, or *.
remote.storage.enable  boolean  false  medium
    Whether old segments go to remote storage.
local.retention.ms  long  -2  medium  >=-2  <log.local.retention.ms
    Age at which segments copied to remote storage go from local disk (ms); -2: as retention.ms.
local.retention.bytes  long  -2  medium  >=-2  <log.local.retention.bytes
    Local size above which copied segments go from local disk; -2: as retention.bytes.
remote.log.copy.disable  boolean  false  medium
    Whether copying to remote storage has stopped while what is there stays readable.
remote.copy.lag.ms  long  0  medium  >=-1  <log.remote.copy.lag.ms
    Least age of a segment to be copied to remote storage (ms); -1: as late as retention allows.
remote.copy.lag.bytes  long  -1  medium  >=-1  <log.remote.copy.lag.bytes
    Bytes that a segment lies behind the end before it is copied; -1: as late as retention allows.
remote.log.delete.on.disable  boolean  false  medium
    Whether switching remote storage off deletes what is there.
errors.deadletterqueue.group.enable  boolean  false  medium
    Whether share groups may use this topic as a dead-letter queue.
internal.segment.bytes  int  null  medium  internal
    Segment size without the lower bound of segment.bytes; for tests.
"""

TOPIC = ConfigDef(lambda: iter((ROWS,)))
