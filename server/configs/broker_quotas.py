"""Settings of a broker: quotas, metrics and telemetry.

Rows only; `table.py` describes their format.
"""

ROWS = """
quota.window.num  int  11  low  >=1
    Windows kept for client quotas.
quota.window.size.seconds  int  1  low  >=1
    Length of a window of client quotas (s).
replication.quota.window.num  int  11  low  >=1
    Windows kept for replication quotas.
replication.quota.window.size.seconds  int  1  low  >=1
    Length of a window of replication quotas (s).
alter.log.dirs.replication.quota.window.num  int  11  low  >=1
    Windows kept for the quota of moves between log folders.
alter.log.dirs.replication.quota.window.size.seconds  int  1  low  >=1
    Length of a window of the quota of moves between log folders (s).
controller.quota.window.num  int  11  low  >=1
    Windows kept for the quota of controller mutations.
controller.quota.window.size.seconds  int  1  low  >=1
    Length of a window of the quota of controller mutations (s).
client.quota.callback.class  class  null  low
    Class that decides which quota a client has.
metrics.num.samples  int  2  low  >=1
    Samples kept for a metric.
metrics.sample.window.ms  long  30000  low  >=1
    Length of a sample of a metric (ms).
metrics.recording.level  string  INFO  low
    How much is measured.
metric.reporters  list  org.apache.kafka.common.metrics.JmxReporter  low  cluster-wide
    Classes that metrics are reported to.
kafka.metrics.reporters  list  ""  low
    Classes that the older broker metrics are reported to.
kafka.metrics.polling.interval.secs  int  10  low  >=1
    Time between two polls of the older broker metrics (s).
telemetry.max.bytes  int  1048576  low  >=1
    Largest push of client telemetry, compressed, and also decompressed.
"""
