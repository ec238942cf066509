"""The shape of a simulated cluster with files. Sizes and intervals are small, so that segments are
rolled, deleted and snapshotted often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from ..brokers.shape import Shape

SEGMENT, RETENTION = 1000, 4000
"""The size in bytes at which a data segment is rolled, and the size that retention keeps."""

RETENTION_CHECK_MS, DELETE_DELAY_MS, CHECKPOINT_MS = 10_000, 5_000, 15_000
SNAPSHOTS_CHECK_MS = 60_000
"""The time between two checks of the metadata snapshots, which is no setting."""

NO_SEGMENT = 0


@dataclass(frozen=True, slots=True)
class LivesShape(Shape):
    """`directories` is the number of log directories of each node. A segment of the metadata log is
    rolled at `metadata_segment` bytes; with NO_SEGMENT it is never rolled. A snapshot is due after
    `snapshot_bytes`, and `metadata_retention` bytes are kept."""

    directories: int = 1
    metadata_segment: int = NO_SEGMENT
    snapshot_bytes: int = 2000
    metadata_retention: int = 5000

    @property
    def is_one_voter(self) -> bool:
        """Whether decisions take effect before they are flushed."""
        return len(self.controller_ids) == 1

    @property
    def settings(self) -> Mapping[str, object]:
        settings: dict[str, object] = {
            **Shape.settings.fget(self),  # type: ignore[attr-defined]  # a class with slots has no super without its name
            "broker.heartbeat.interval.ms": 1000,
            "metadata.max.idle.interval.ms": 5000,
            "log.retention.check.interval.ms": RETENTION_CHECK_MS,
            "log.segment.delete.delay.ms": DELETE_DELAY_MS,
            "internal.metadata.delete.delay.millis": DELETE_DELAY_MS,
            "log.cleaner.backoff.ms": 3000,
            "log.flush.offset.checkpoint.interval.ms": CHECKPOINT_MS,
            "metadata.log.max.record.bytes.between.snapshots": self.snapshot_bytes,
            "metadata.max.retention.bytes": self.metadata_retention,
            "offsets.topic.num.partitions": 1,
            "offsets.topic.replication.factor": self.replicas,
            "transaction.state.log.num.partitions": 1,
            "transaction.state.log.replication.factor": self.replicas,
            "transaction.state.log.min.isr": 1,
        }
        if self.metadata_segment != NO_SEGMENT:
            settings["internal.metadata.log.segment.bytes"] = self.metadata_segment
        if self.flushing:
            settings["log.flush.interval.messages"] = 1
        return settings


def single(random: Random, **fixed: object) -> LivesShape:
    """One node that is a broker and a controller."""
    return _drawn(random, {"combined": True, "brokers": 1, "replicas": 1, "min_isr": 1, **fixed})


def transactional(random: Random, **fixed: object) -> LivesShape:
    """One node or several, with transactional producers."""
    made = random.choice((single, several))
    return made(random, **{"transactional": random.choice((1, 2)), **fixed})


def several(random: Random, **fixed: object) -> LivesShape:
    """Three nodes of both kinds, or brokers and their controllers."""
    if random.random() < 0.5:
        return _drawn(random, {"combined": True, "brokers": 3, "replicas": 3, **fixed})
    brokers = random.choice((1, 2, 3))
    return _drawn(
        random, {"controllers": random.choice((1, 3)), "brokers": brokers, "replicas": min(brokers, 3), **fixed}
    )


def of_combined(random: Random, **fixed: object) -> LivesShape:
    """One, three or five nodes, each a broker and a controller."""
    nodes = random.choice((1, 3, 5))
    return _drawn(random, {"combined": True, "brokers": nodes, "replicas": min(nodes, 3), **fixed})


def _drawn(random: Random, fixed: dict[str, object]) -> LivesShape:
    drawn: dict[str, object] = {
        "on_disks": True,
        "partitions": random.choice((1, 2)),
        "min_isr": 1,
        "elr": random.random() < 0.5,
        "flushing": random.random() < 0.3,
        "directories": random.choice((1, 1, 2)),
        "metadata_segment": random.choice((NO_SEGMENT, 1200, 3000)),
        "snapshot_bytes": random.choice((500, 2000)),
        "metadata_retention": random.choice((1500, 5000)),
    }
    return LivesShape(**{**drawn, **fixed})  # type: ignore[arg-type]  # fields by name
