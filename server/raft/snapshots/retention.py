"""Decides which snapshots, and which part of the log, are kept: as Apache Kafka ships it, or
KIP-630 as adopted.

Shipped: each replica deletes by size and age, oldest snapshot first, with the log up to the next
one; one snapshot stays. Adopted, as an option: the leader moves the log start offset to a snapshot
that all live replicas have reached, or that is old enough; followers follow the leader's log start
offset as far as their own snapshots reach; snapshots before it are deleted. These functions are
pure; others act on the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...log.offset_and_epoch import OffsetAndEpoch

UNBOUNDED = -1

NAMES = {
    "metadata.max.retention.bytes": "max_bytes",
    "metadata.max.retention.ms": "max_ms",
    "metadata.start.offset.lag.time.max.ms": "max_lag_ms",
}
"""Kafka's name, or KIP-630's -> the attribute."""


@dataclass(frozen=True, slots=True)
class SnapshotRetention:
    """Bytes and ms, -1 for no bound. With `max_lag_ms` (KIP-630: seven days) the adopted rule
    applies.
    """

    max_bytes: int = 100 << 20
    max_ms: int = 7 * 86_400_000
    max_lag_ms: int | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> SnapshotRetention:
        """From setting names to typed values; other names are ignored."""
        return cls(**{NAMES[name]: value for name, value in settings.items() if name in NAMES})


class SnapshotInfo(NamedTuple):
    """A snapshot. `timestamp` is of the last record in it (ms), None if it cannot be read."""

    id: OffsetAndEpoch
    size: int
    timestamp: int | None


def expired(
    snapshots: Sequence[SnapshotInfo],
    start: int,
    log_size: Callable[[int], int],
    retention: SnapshotRetention,
    now: int,
) -> Sequence[SnapshotInfo]:
    """The snapshots to delete, oldest first; then the log starts at the end of the first remaining
    one. `start` is the log start offset; `log_size` returns the size of the log from an offset on.
    As shipped.
    """
    deletable = 0
    while deletable < len(snapshots) - 1:
        log_bytes = log_size(max(start, snapshots[deletable].id.offset) if deletable else start)
        if not _is_too_large(snapshots[deletable:], log_bytes, retention):
            break
        deletable += 1
    while deletable < len(snapshots) - 1 and _is_too_old(snapshots[deletable], retention, now):
        deletable += 1
    return snapshots[:deletable]


def _is_too_large(snapshots: Sequence[SnapshotInfo], log_bytes: int, retention: SnapshotRetention) -> bool:
    return 0 <= retention.max_bytes < log_bytes + sum(snapshot.size for snapshot in snapshots)


def _is_too_old(oldest: SnapshotInfo, retention: SnapshotRetention, now: int) -> bool:
    return retention.max_ms >= 0 and oldest.timestamp is not None and now - oldest.timestamp > retention.max_ms


def leaders_start(
    snapshots: Sequence[SnapshotInfo], start: int, replicas: Iterable[int], max_lag_ms: int, now: int
) -> OffsetAndEpoch | None:
    """The snapshot to whose end the leader moves its log start offset `start`: the newest that all
    live replicas (log end offsets `replicas`) have reached, or whose last record is `max_lag_ms`
    old. None: no move. As adopted.
    """
    reached = min(replicas, default=None)
    may = [
        snapshot.id
        for snapshot in snapshots
        if snapshot.id.offset > start
        and (
            (reached is not None and snapshot.id.offset <= reached)
            or (snapshot.timestamp is not None and now - snapshot.timestamp >= max_lag_ms)
        )
    ]
    return max(may, default=None)


def followers_start(snapshots: Sequence[OffsetAndEpoch], start: int, leaders: int) -> OffsetAndEpoch | None:
    """The snapshot to whose end a follower moves its log start offset, given the leader's
    `leaders`: its newest not beyond that. None: no move. As adopted.
    """
    return max((id for id in snapshots if start < id.offset <= leaders), default=None)


def before(snapshots: Sequence[OffsetAndEpoch], start: int) -> list[OffsetAndEpoch]:
    """Snapshots that end before the log start offset, except the newest (KIP-630, "When to Delete
    Snapshots").
    """
    return [id for id in snapshots[:-1] if id.offset < start]
