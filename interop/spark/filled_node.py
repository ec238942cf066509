"""One Apache Kafka with every kind of content in its directory: codecs, transactions, segments, a
compacted topic, deleted records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from interop.local import cluster
from interop.local.cluster import Cluster
from interop.tools.filling import COMPACTED, LARGE, MIXED, OVERRIDES, fill

TOPICS = {MIXED: 2, LARGE: 1, COMPACTED: 1}
"""The number of partitions of each topic."""
DELETED = 17
"""The number of records of the large topic that are deleted."""
SETTINGS = OVERRIDES | {
    "log.flush.start.offset.checkpoint.interval.ms": 100,
    # the records of the large topic are of a past year
    "log.retention.ms": -1,
}


@contextmanager
def filled_node(folder: Path) -> Iterator[Cluster]:
    """The running node. Raises Missing."""
    with cluster(folder, overrides=SETTINGS) as running:
        fill(running.bootstrap)
        admin = AdminClient({"bootstrap.servers": running.bootstrap})
        for done in admin.delete_records([TopicPartition(LARGE, 0, DELETED)]).values():
            done.result()
        yield running
