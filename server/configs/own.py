"""The configurations of a topic and of a node that Apache Kafka does not have.

`topic.py` holds Kafka's rows alone, so that a test can compare them with Kafka's. A row here is
`internal`: DescribeConfigs shows it only where it is set, so that a topic that does not use it
looks as in Kafka. Kafka refuses to create a topic with one of these names (INVALID_CONFIG). Every
row has bounds, because Kafka has no ConfigDef for it.
"""

from . import topic
from .table import ConfigDef

ROWS = """
produce.expected.offset  string  off  medium  in:off,optional,required  internal
    Whether a produced batch may, or must, say at which offset it is to be appended (KIP-27).
"""

BROKER_ROWS = """
metadata.snapshot.min.changed_records.ratio  double  null  low  internal  number  0..1
    The share of a snapshot's records that must have changed before another is written, besides the bytes (KIP-630 as adopted).
metadata.start.offset.lag.time.max.ms  long  null  low  internal  >=0
    How long a snapshot waits for live replicas that have not reached it, before the log begins at its end (KIP-630 as adopted) (ms).
"""

TOPIC_HERE = ConfigDef(lambda: iter((topic.ROWS, ROWS)))
"""Every configuration that a topic accepts here: Kafka's, and those of this module."""
