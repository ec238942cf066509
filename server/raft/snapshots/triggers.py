"""Decides when a snapshot is due: as Apache Kafka ships it (KIP-630, KIP-876), or KIP-630 as
adopted.

Shipped: after a number of bytes of records, or when something is committed and the last snapshot is
old enough. Adopted, as an option: after a number of bytes, and only if enough records of the last
snapshot have changed. Each replica decides for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

NO_INTERVAL = 0
"""Of an interval: no snapshot is written because of time."""

NAMES = {
    "metadata.log.max.record.bytes.between.snapshots": "max_bytes",
    "metadata.log.max.snapshot.interval.ms": "max_interval_ms",
    "metadata.snapshot.min.changed_records.ratio": "min_changed_ratio",
}
"""Kafka's name, or KIP-630's -> the attribute."""


@dataclass(frozen=True, slots=True)
class SnapshotTriggers:
    """Sizes in bytes, times in ms. With `min_changed_ratio` (0 to 1; KIP-630: 0.5) the adopted rule
    applies.
    """

    max_bytes: int = 20 << 20
    max_interval_ms: int = 3_600_000
    min_changed_ratio: float | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> SnapshotTriggers:
        """From setting names to typed values; other names are ignored."""
        return cls(**{NAMES[name]: value for name, value in settings.items() if name in NAMES})


class SinceSnapshot(NamedTuple):
    """Committed bytes since the last snapshot or the start, and its time (ms)."""

    bytes: int
    began: int

    def committed(self, size: int) -> SinceSnapshot:
        return self._replace(bytes=self.bytes + size)


def reason(triggers: SnapshotTriggers, since: SinceSnapshot, now: int, changed: Callable[[], float]) -> str | None:
    """Why a snapshot is due now that something was committed; None if it is not. `changed` returns
    the share of changed records; it is only called if it matters.
    """
    enough = since.bytes >= triggers.max_bytes
    if triggers.min_changed_ratio is not None:
        if enough and (share := changed()) >= triggers.min_changed_ratio:
            return f"{since.bytes} bytes, and {share:.0%} of the records have changed"
        return None
    if enough:
        return f"{since.bytes} bytes of records"
    if triggers.max_interval_ms != NO_INTERVAL and now - since.began >= triggers.max_interval_ms:
        return f"{now - since.began} ms"
    return None
