"""The metrics of snapshots: those of Apache Kafka, and those of KIP-630 that Kafka never shipped.

The table at the end lists name, meaning and value. Each metric is of one node, voter or observer.
Events are counted from the start of the node; state (the newest snapshot, the high watermark) is
read on demand, so it is right after a restart and for fetched snapshots. Latencies are histograms
in KIP-630; here they are count, sum and maximum, in ms. This file knows no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, repr=False)
class LatencyStats:
    """Durations (ms) since the start."""

    count: int = 0
    sum: int = 0
    largest: int = 0
    last: int = 0

    def add(self, ms: int) -> LatencyStats:
        return LatencyStats(self.count + 1, self.sum + ms, max(self.largest, ms), ms)

    def __repr__(self) -> str:
        return f"{self.count} times, {self.sum} ms in all, at most {self.largest}"


class SnapshotMetrics:
    """Events since the node started at `began` (ms)."""

    def __init__(self, began: int) -> None:
        self.written, self.loaded = LatencyStats(), LatencyStats()
        self.written_bytes = 0  # of the newest snapshot written by this node
        self.written_at = began  # as in Kafka, the start of the node before the first snapshot

    def wrote(self, size: int, took: int, now: int) -> None:
        """A snapshot was written."""
        self.written = self.written.add(took)
        self.written_bytes, self.written_at = size, now

    def load(self, took: int) -> None:
        """A snapshot was loaded, at the start or after a fetch."""
        self.loaded = self.loaded.add(took)

    def __repr__(self) -> str:
        return f"snapshots: written {self.written!r}; loaded {self.loaded!r}"


class MetadataState(NamedTuple):
    """The state at `now`. `latest_end` and `latest_bytes` are of the newest snapshot, written or
    fetched; 0 without one. `leader_id` is -1 without a known leader.
    """

    now: int
    latest_end: int
    latest_bytes: int
    high_watermark: int
    metadata_version: int
    leader_id: int


class SnapshotMetric(NamedTuple):
    """One metric of a node."""

    name: str
    about: str
    read: Callable[[SnapshotMetrics, MetadataState], int | LatencyStats]


_CONTROLLER = "kafka.controller:type=KafkaController,name="
_EMITTER = "kafka.server:type=SnapshotEmitter,name="
_LOADER = "kafka.server:type=MetadataLoader,name="

METRICS = (
    SnapshotMetric(
        _CONTROLLER + "GenSnapshotLatencyMs",
        "how long it took to write each snapshot (KIP-630)",
        lambda m, _: m.written,
    ),
    SnapshotMetric(
        _CONTROLLER + "LoadSnapshotLatencyMs", "how long it took to load each snapshot (KIP-630)", lambda m, _: m.loaded
    ),
    SnapshotMetric(
        _CONTROLLER + "SnapshotSizeBytes",
        "the size of the newest snapshot (KIP-630)",
        lambda _, node: node.latest_bytes,
    ),
    SnapshotMetric(
        _CONTROLLER + "SnapshotLag",
        "offsets from the end of the newest snapshot to the high watermark (KIP-630)",
        lambda _, node: max(0, node.high_watermark - node.latest_end),
    ),
    SnapshotMetric(
        _EMITTER + "LatestSnapshotGeneratedBytes",
        "the size of the last snapshot that this node wrote since its start; 0 before the first",
        lambda m, _: m.written_bytes,
    ),
    SnapshotMetric(
        _EMITTER + "LatestSnapshotGeneratedAgeMs",
        "the time since this node wrote a snapshot; before the first, since its start",
        lambda m, node: node.now - m.written_at,
    ),
    SnapshotMetric(
        _LOADER + "HandleLoadSnapshotCount",
        "how many snapshots were loaded since the start of the node: at the start, or after they were fetched",
        lambda m, _: m.loaded.count,
    ),
    SnapshotMetric(
        _LOADER + "CurrentMetadataVersion", "the level of metadata.version", lambda _, node: node.metadata_version
    ),
    SnapshotMetric(
        _LOADER + "CurrentControllerId", "the leader of the quorum; -1 for none", lambda _, node: node.leader_id
    ),
)
"""All metrics."""


def readings(metrics: SnapshotMetrics, node: MetadataState) -> dict[str, int | LatencyStats]:
    """Every value by name."""
    return {metric.name: metric.read(metrics, node) for metric in METRICS}
