"""Settings of a broker: replicas and purgatories.

Rows only; `table.py` describes their format.
"""

ROWS = """
default.replication.factor  int  1  medium
    Replicas of a topic when its creator does not say.
replica.lag.time.max.ms  long  30000  high
    How long a follower may lag before it leaves the in-sync replicas (ms).
replica.socket.timeout.ms  int  30000  high
    How long a follower waits for its leader's answer (ms).
replica.socket.receive.buffer.bytes  int  65536  high
    Receive buffer of the sockets to leaders.
replica.fetch.max.bytes  int  1048576  medium  >=0
    Bytes that a follower asks for per partition.
replica.fetch.wait.max.ms  int  500  high
    How long a leader may wait before it answers a follower (ms).
replica.fetch.backoff.ms  int  1000  medium  >=0
    How long a follower leaves a partition alone after an error (ms).
replica.fetch.min.bytes  int  1  high
    Least bytes that a follower waits for.
replica.fetch.response.max.bytes  int  10485760  medium  >=0
    Bytes that a follower asks for in one fetch.
num.replica.fetchers  int  1  high  cluster-wide  >=1
    Threads per leader that fetch from it.
num.replica.alter.log.dirs.threads  int  null  high
    Threads that move replicas between log folders; when not set, one per folder.
replica.high.watermark.checkpoint.interval.ms  long  5000  high
    Time between two writings of the high watermarks (ms).
replica.selector.class  string  null  medium
    Class that picks the replica that a consumer is sent to.
follower.fetch.last.tiered.offset.enable  boolean  false  medium  cluster-wide
    Whether a new follower of a tiered topic starts where the remote log ends.
fetch.purgatory.purge.interval.requests  int  1000  medium
    Finished fetches after which the purgatory is swept.
producer.purgatory.purge.interval.requests  int  1000  medium
    Finished produce requests after which the purgatory is swept.
delete.records.purgatory.purge.interval.requests  int  1  medium
    Finished DeleteRecords requests after which the purgatory is swept.
unclean.leader.election.enable  boolean  false  high  cluster-wide
    Whether a replica that is not in sync may become leader when no other is left.
leader.replication.throttled.rate  long  9223372036854775807  medium  dynamic-only  >=0
    Bytes per second that a leader sends to throttled followers.
follower.replication.throttled.rate  long  9223372036854775807  medium  dynamic-only  >=0
    Bytes per second that a follower fetches for throttled replicas.
replica.alter.log.dirs.io.max.bytes.per.second  long  9223372036854775807  medium  dynamic-only  >=0
    Bytes per second of moves between log folders.
"""
