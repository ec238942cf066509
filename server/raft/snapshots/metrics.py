"""What can be told of snapshots, by the names of KIP-630 and by those that Apache Kafka ships.

The table at the end is the list: a name, what it means, how it is read. Latencies are histograms in KIP-630; here they are counts, sums and
the largest, in ms. This file knows no clock: whoever measures brings the numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

NOT_YET = -1
"""The age of a snapshot that was never written."""


class Latencies:
    """How long something took, each time (ms)."""

    __slots__ = ("count", "largest", "last", "sum")

    def __init__(self) -> None:
        self.count = self.sum = self.largest = self.last = 0

    def add(self, ms: int) -> None:
        self.count += 1
        self.sum += ms
        self.last = ms
        self.largest = max(self.largest, ms)

    def __repr__(self) -> str:
        return f"{self.count} times, {self.sum} ms in all, at most {self.largest}"


class SnapshotMetrics:
    """The numbers of one replica."""

    def __init__(self, metadata_version: int = 0) -> None:
        self.written, self.loaded = Latencies(), Latencies()
        self.latest_bytes = 0  # of the newest snapshot, written or fetched
        self.written_bytes = 0  # of the newest that was written here
        self.written_at: int | None = None
        self.latest_end = 0  # the end offset of the newest snapshot
        self.high_watermark = 0
        self.metadata_version = metadata_version

    def wrote(self, end: int, size: int, took: int, now: int) -> None:
        """A snapshot was written."""
        self.written.add(took)
        self.written_bytes, self.written_at = size, now
        self._newest(end, size)

    def read(self, end: int, size: int, took: int) -> None:
        """A snapshot was loaded, at the start or because it was fetched."""
        self.loaded.add(took)
        self._newest(end, size)

    def _newest(self, end: int, size: int) -> None:
        self.latest_end, self.latest_bytes = end, size
        self.high_watermark = max(self.high_watermark, end)

    def age(self, now: int) -> int:
        """Since the last one was written."""
        return NOT_YET if self.written_at is None else now - self.written_at

    def __repr__(self) -> str:
        return f"snapshots: written {self.written!r}; loaded {self.loaded!r}"


class Metric(NamedTuple):
    """One number of a replica. `read` takes its metrics, and the time."""

    name: str
    about: str
    read: Callable[[SnapshotMetrics, int], int | Latencies]


_CONTROLLER = "kafka.controller:type=KafkaController,name="
_EMITTER = "kafka.server:type=SnapshotEmitter,name="
_LOADER = "kafka.server:type=MetadataLoader,name="

METRICS = (
    Metric(_CONTROLLER + "GenSnapshotLatencyMs", "how long it took to write each (KIP-630)", lambda m, _: m.written),
    Metric(_CONTROLLER + "LoadSnapshotLatencyMs", "how long it took to load each (KIP-630)", lambda m, _: m.loaded),
    Metric(_CONTROLLER + "SnapshotSizeBytes", "the size of the newest (KIP-630)", lambda m, _: m.latest_bytes),
    Metric(
        _CONTROLLER + "SnapshotLag",
        "offsets from the end of the newest to the high watermark (KIP-630)",
        lambda m, _: m.high_watermark - m.latest_end,
    ),
    Metric(_EMITTER + "LatestSnapshotGeneratedBytes", "the size of the last one written", lambda m, _: m.written_bytes),
    Metric(_EMITTER + "LatestSnapshotGeneratedAgeMs", "the time since; -1 before the first", lambda m, now: m.age(now)),
    Metric(_LOADER + "HandleLoadSnapshotCount", "how many were loaded", lambda m, _: m.loaded.count),
    Metric(_LOADER + "CurrentMetadataVersion", "the level of metadata.version", lambda m, _: m.metadata_version),
)
"""All of them."""


def readings(metrics: SnapshotMetrics, now: int) -> dict[str, int | Latencies]:
    """Every number, by name."""
    return {metric.name: metric.read(metrics, now) for metric in METRICS}
