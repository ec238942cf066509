"""Settings of a broker: tiered storage (KIP-405).

Rows only; `table.py` describes their format.
"""

ROWS = """
remote.log.storage.system.enable  boolean  false  medium
    Whether the broker can keep old segments in remote storage.
remote.log.storage.manager.class.name  string  null  medium  nonempty
    Class that puts segments into remote storage.
remote.log.storage.manager.class.path  string  null  medium
    Where that class is found, when not on the broker's class path.
remote.log.storage.manager.impl.prefix  string  rsm.config.  medium  nonempty
    Prefix of the settings that are handed to that class.
remote.log.metadata.manager.class.name  string  \
org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager  medium  nonempty
    Class that knows which segments lie in remote storage.
remote.log.metadata.manager.class.path  string  null  medium
    Where the class of the remote metadata is found, when not on the broker's class path.
remote.log.metadata.manager.impl.prefix  string  rlmm.config.  medium  nonempty
    Prefix of the settings that are handed to the class of the remote metadata.
remote.log.metadata.manager.listener.name  string  null  medium  nonempty
    The listener by which the remote metadata manager reaches brokers.
remote.log.metadata.custom.metadata.max.bytes  int  128  low  >=0
    Most bytes that a storage class may add to the metadata of a segment.
remote.log.index.file.cache.total.size.bytes  long  1073741824  low  cluster-wide  >=1
    Disk space for fetched indexes of remote segments.
remote.log.index.file.cache.ttl.ms  long  900000  low  internal  >=-1
    Disuse after which a fetched index is dropped (ms); -1 for never.
remote.log.manager.thread.pool.size  int  2  medium  >=1
    Threads of the remote log manager's common pool.
remote.log.manager.copier.thread.pool.size  int  10  medium  cluster-wide  >=1
    Threads that copy segments to remote storage.
remote.log.manager.expiration.thread.pool.size  int  10  medium  cluster-wide  >=1
    Threads that delete expired remote segments.
remote.log.manager.follower.thread.pool.size  int  2  medium  cluster-wide  >=1
    Threads that do the work of followers of tiered partitions.
remote.log.manager.task.interval.ms  long  30000  low  >=1
    Time between two runs of the copying and expiring tasks (ms).
remote.log.manager.task.retry.backoff.ms  long  500  low  internal  >=1
    First pause before a failed task of the remote log manager is tried again (ms).
remote.log.manager.task.retry.backoff.max.ms  long  30000  low  internal  >=1
    Longest pause before a failed task of the remote log manager is tried again (ms).
remote.log.manager.task.retry.jitter  double  0.2  low  internal  0..0.5
    How much of that pause is random.
remote.log.reader.threads  int  10  medium  cluster-wide  >=1
    Threads that read from remote storage.
remote.log.reader.max.pending.tasks  int  100  medium  >=1
    Remote reads that may wait for a thread.
remote.log.manager.copy.max.bytes.per.second  long  9223372036854775807  medium  cluster-wide  >=1
    Bytes per second copied to remote storage.
remote.log.manager.copy.quota.window.num  int  11  medium  >=1
    Windows kept for the copy quota.
remote.log.manager.copy.quota.window.size.seconds  int  1  medium  >=1
    Length of a window of the copy quota (s).
remote.log.manager.fetch.max.bytes.per.second  long  9223372036854775807  medium  cluster-wide  >=1
    Bytes per second read from remote storage.
remote.log.manager.fetch.quota.window.num  int  11  medium  >=1
    Windows kept for the fetch quota.
remote.log.manager.fetch.quota.window.size.seconds  int  1  medium  >=1
    Length of a window of the fetch quota (s).
remote.fetch.max.wait.ms  int  500  medium  cluster-wide  >=1
    How long a fetch waits for remote storage (ms).
remote.list.offsets.request.timeout.ms  long  30000  medium  cluster-wide  >=1
    How long ListOffsets waits for remote storage (ms).
log.local.retention.ms  long  -2  medium  cluster-wide  >=-2
    Age at which segments copied to remote storage go from local disk (ms); -2: as the whole log.
log.local.retention.bytes  long  -2  medium  cluster-wide  >=-2
    Local size above which copied segments go from local disk; -2: as the whole log.
log.remote.copy.lag.ms  long  0  medium  cluster-wide  >=-1
    Least age of a segment to be copied to remote storage (ms); -1: as late as retention allows.
log.remote.copy.lag.bytes  long  -1  medium  cluster-wide  >=-1
    Bytes that a segment lies behind the end before it is copied; -1: as late as retention allows.
"""
