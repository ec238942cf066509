"""The configurations that Apache Kafka does not have: of a topic, and with them all that a topic takes here; of a node.

Kafka's own rows stay alone in `topic.py`, to be compared with Kafka's. A row here is `internal`: it is described where somebody has set it and
nowhere else, so that a topic that does not use it looks as in Kafka. Kafka refuses to create a topic with one of them (INVALID_CONFIG).
Every row has bounds: no ConfigDef of Kafka says what it may be.
"""

from . import topic
from .table import Table

ROWS = """
produce.expected.offset  string  off  medium  in:off,optional,required  internal  effective
    Whether a produced batch may, or must, say at which offset it is to be appended (KIP-27).
"""

BROKER_ROWS = """
metadata.snapshot.min.changed_records.ratio  double  null  low  internal  number  0..1  effective
    The share of a snapshot's records that must have changed before another is written, besides the bytes (KIP-630 as adopted).
metadata.start.offset.lag.time.max.ms  long  null  low  internal  >=0  effective
    How long a snapshot waits for live replicas that have not reached it, before the log begins at its end (KIP-630 as adopted) (ms).
"""

TOPIC_HERE = Table(lambda: iter((topic.ROWS, ROWS)))
"""Kafka's configurations of a topic, and ours."""
