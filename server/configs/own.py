"""The configurations of a topic that Apache Kafka does not have, and with them all that a topic takes here.

Kafka's own rows stay alone in `topic.py`, to be compared with Kafka's. A row here is `internal`: it is described where somebody has set it and
nowhere else, so that a topic that does not use it looks as in Kafka. Kafka refuses to create a topic with one of them (INVALID_CONFIG).
"""

from . import topic
from .table import Table

ROWS = """
produce.expected.offset  string  off  medium  in:off,optional,required  internal  effective
    Whether a produced batch may, or must, say at which offset it is to be appended (KIP-27).
"""

TOPIC_HERE = Table(lambda: iter((topic.ROWS, ROWS)))
"""Kafka's configurations of a topic, and ours."""
