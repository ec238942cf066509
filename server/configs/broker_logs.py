"""Settings of a broker: logs, log cleaning, the expiration of producer ids, and the defaults of
topics.

Rows only; `table.py` describes their format.
"""

ROWS = """
num.partitions  int  1  medium  >=1
    Partitions of a topic when its creator does not say.
log.dir  list  /tmp/kafka-logs  high  nonempty
    Folders of the logs, when log.dirs is not set.
log.dirs  list  null  high  nonempty
    Folders of the logs.
cordoned.log.dirs  list  ""  medium  per-broker
    Log folders that take no new partitions; * means all of them.
log.segment.bytes  int  1073741824  high  cluster-wide  >=1048576
    Size at which a log segment is closed.
log.roll.ms  long  null  high  cluster-wide
    Age at which a log segment is closed (ms); when not set, log.roll.hours counts.
log.roll.hours  int  168  high  >=1
    Age at which a log segment is closed (hours).
log.roll.jitter.ms  long  null  high  cluster-wide
    Most that is taken off the age of closing at random (ms); when not set, log.roll.jitter.hours counts.
log.roll.jitter.hours  int  0  high  >=0
    Most that is taken off the age of closing at random (hours).
log.retention.ms  long  null  high  cluster-wide
    Age at which a closed segment is deleted (ms), -1 for never; when not set, log.retention.minutes counts.
log.retention.minutes  int  null  high
    Age at which a closed segment is deleted (minutes); when not set, log.retention.hours counts.
log.retention.hours  int  168  high
    Age at which a closed segment is deleted (hours).
log.retention.bytes  long  -1  high  cluster-wide
    Size above which a partition loses its oldest segments; -1 for no limit.
log.retention.check.interval.ms  long  300000  medium  >=1
    Time between two searches for segments to delete (ms).
log.cleanup.policy  list  delete  medium  cluster-wide  in:compact,delete
    What happens to old segments: delete, compact, both, or (empty) nothing.
log.index.size.max.bytes  int  10485760  medium  cluster-wide  >=4
    Largest offset index.
log.index.interval.bytes  int  4096  medium  cluster-wide  >=0
    Bytes of log between two entries of the offset index.
log.flush.interval.messages  long  9223372036854775807  high  cluster-wide  >=1
    Messages in a partition after which it is flushed to disk.
log.segment.delete.delay.ms  long  60000  high  cluster-wide  >=0
    Time between taking a segment out of the log and deleting its files (ms).
log.flush.scheduler.interval.ms  long  9223372036854775807  high
    Time between two searches for logs to flush (ms).
log.flush.interval.ms  long  null  high  cluster-wide
    Longest time that a message stays unflushed (ms); when not set, log.flush.scheduler.interval.ms counts.
log.flush.offset.checkpoint.interval.ms  int  60000  high  >=0
    Time between two writings of the recovery points (ms).
log.flush.start.offset.checkpoint.interval.ms  int  60000  high  >=0
    Time between two writings of the log start offsets (ms).
log.preallocate  boolean  false  medium  cluster-wide
    Whether a new segment is given its full size on disk at once.
num.recovery.threads.per.data.dir  int  2  high  cluster-wide  >=1
    Threads per log folder for recovery at the start and flushing at the end.
auto.create.topics.enable  boolean  true  high
    Whether asking for the metadata of an unknown topic creates it.
min.insync.replicas  int  1  high  cluster-wide  >=1
    Least in-sync replicas for a write with acks=all to be taken.
log.message.timestamp.type  string  CreateTime  medium  cluster-wide  in:CreateTime,LogAppendTime
    Whose time a record carries: its producer's (CreateTime) or the broker's (LogAppendTime).
log.message.timestamp.before.max.ms  long  9223372036854775807  medium  cluster-wide  >=0
    How far a record's time may lie before the broker's (ms).
log.message.timestamp.after.max.ms  long  3600000  medium  cluster-wide  >=0
    How far a record's time may lie after the broker's (ms).
create.topic.policy.class.name  class  null  low
    Class that may refuse new topics.
alter.config.policy.class.name  class  null  low
    Class that may refuse changes of configurations.
log.dir.failure.timeout.ms  long  30000  low  >=1
    Time after which a broker stops that cannot tell the controller of a failed log folder (ms).
log.initial.task.delay.ms  long  30000  low  internal  >=0
    Time from the start to the first run of the log manager's tasks (ms).
log.cleaner.enable  boolean  true  medium
    Whether logs are compacted.
log.cleaner.threads  int  1  medium  cluster-wide  >=0
    Threads that compact logs.
log.cleaner.io.max.bytes.per.second  double  1.7976931348623157E308  medium  cluster-wide
    Most bytes per second that all compaction reads and writes.
log.cleaner.dedupe.buffer.size  long  134217728  medium  cluster-wide
    Memory for the key maps of all cleaner threads.
log.cleaner.io.buffer.size  int  524288  medium  cluster-wide  >=0
    Memory for reading and writing of all cleaner threads.
log.cleaner.io.buffer.load.factor  double  0.9  medium  cluster-wide
    How full a key map may get.
log.cleaner.backoff.ms  long  15000  medium  cluster-wide  >=0
    How long the cleaner sleeps when there is nothing to clean (ms).
log.cleaner.min.cleanable.ratio  double  0.5  medium  cluster-wide  0..1
    Share of uncleaned bytes from which a log is worth compacting.
log.cleaner.delete.retention.ms  long  86400000  medium  cluster-wide  >=0
    How long tombstones stay in a compacted log (ms).
log.cleaner.min.compaction.lag.ms  long  0  medium  cluster-wide  >=0
    Age below which a record is not compacted away (ms).
log.cleaner.max.compaction.lag.ms  long  9223372036854775807  medium  cluster-wide  >=1
    Age above which a record makes its log worth compacting (ms).
message.max.bytes  int  1048588  high  cluster-wide  >=0
    Largest record batch that is taken.
max.decompressed.message.bytes  int  2147483639  medium  cluster-wide  1..2147483639
    Largest record, decompressed, that is taken.
delete.topic.enable  boolean  true  high
    Whether topics may be deleted.
compression.type  string  producer  high  cluster-wide  in:uncompressed,zstd,lz4,snappy,gzip,producer
    How a broker keeps batches: as the producer compressed them, or in the codec named here.
compression.gzip.level  int  -1  medium  cluster-wide  gzip-level
    Level of gzip when the broker compresses; -1 is gzip's own default.
compression.lz4.level  int  9  medium  cluster-wide  1..17
    Level of lz4 when the broker compresses.
compression.zstd.level  int  3  medium  cluster-wide  -131072..22
    Level of zstd when the broker compresses.
producer.id.expiration.ms  int  86400000  low  cluster-wide  >=1
    Disuse after which a partition forgets a producer id (ms).
producer.id.expiration.check.interval.ms  int  600000  low  internal  >=1
    Time between two searches for producer ids to forget (ms).
"""
