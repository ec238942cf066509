"""How long snapshots, and the beginning of the log, are kept: as Apache Kafka ships it, or as KIP-630 was adopted.

Shipped: every replica goes by size and by age, the oldest snapshot first; with each the log up to the next one goes; one stays. Adopted, as an
option: the leader moves the start of the log to a snapshot that all live replicas have reached, or that has been there for long enough;
followers move theirs after the leader's, as far as their own snapshots reach; snapshots before the start go. Pure: what is to go is told, and
others do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...log.offset_and_epoch import OffsetAndEpoch

CLEAN_INTERVAL_MS = 60_000
"""Time (ms) between two looks, as in Kafka."""

UNBOUNDED = -1

NAMES = {
    "metadata.max.retention.bytes": "max_bytes",
    "metadata.max.retention.ms": "max_ms",
    "metadata.start.offset.lag.time.max.ms": "max_lag_ms",
}
"""Kafka's name, or KIP-630's -> the attribute that holds it."""


@dataclass(frozen=True, slots=True)
class SnapshotRetention:
    """Bytes and ms, -1 for no bound. With `max_lag_ms` (KIP-630 says seven days) the adopted rule holds, otherwise the shipped."""

    max_bytes: int = 100 << 20
    max_ms: int = 7 * 86_400_000
    max_lag_ms: int | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> SnapshotRetention:
        """From names to typed values; what is missing has its default, other names are passed over."""
        return cls(**{NAMES[name]: value for name, value in settings.items() if name in NAMES})


class SnapshotInfo(NamedTuple):
    """A snapshot. `timestamp` is that of the last record that it contains (ms), None where it cannot be told."""

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
    """Those that are to go, oldest first; the log, which starts at `start`, then starts at the end of the first that stays. `snapshots` are in
    order; `log_size` tells the bytes of the log, if it starts at an offset. As shipped."""
    gone = 0
    while gone < len(snapshots) - 1:
        log_bytes = log_size(max(start, snapshots[gone].id.offset) if gone else start)
        if not _is_too_large(snapshots[gone:], log_bytes, retention):
            break
        gone += 1
    while gone < len(snapshots) - 1 and _is_too_old(snapshots[gone], retention, now):
        gone += 1
    return snapshots[:gone]


def _is_too_large(snapshots: Sequence[SnapshotInfo], log_bytes: int, retention: SnapshotRetention) -> bool:
    return 0 <= retention.max_bytes < log_bytes + sum(each.size for each in snapshots)


def _is_too_old(oldest: SnapshotInfo, retention: SnapshotRetention, now: int) -> bool:
    return retention.max_ms >= 0 and oldest.timestamp is not None and now - oldest.timestamp > retention.max_ms


def leaders_start(
    snapshots: Sequence[SnapshotInfo], start: int, replicas: Iterable[int], max_lag_ms: int, now: int
) -> OffsetAndEpoch | None:
    """The snapshot at whose end the leader's log may start, which starts at `start`: the newest that all live replicas (the ends of their logs
    are `replicas`) have reached, or whose last record is `max_lag_ms` old. None to leave it where it is. As adopted."""
    reached = min(replicas, default=None)
    may = [
        each.id
        for each in snapshots
        if each.id.offset > start
        and (
            (reached is not None and each.id.offset <= reached)
            or (each.timestamp is not None and now - each.timestamp >= max_lag_ms)
        )
    ]
    return max(may, default=None)


def followers_start(snapshots: Sequence[OffsetAndEpoch], start: int, leaders: int) -> OffsetAndEpoch | None:
    """The snapshot at whose end a follower's log may start, whose leader's starts at `leaders`: its newest that is not beyond that; None to
    leave it. As adopted."""
    return max((id for id in snapshots if start < id.offset <= leaders), default=None)


def before(snapshots: Sequence[OffsetAndEpoch], start: int) -> list[OffsetAndEpoch]:
    """Those that end before the log starts: nothing goes on from them. The newest is never among them (KIP-630, "When to Delete Snapshots")."""
    return [id for id in snapshots[:-1] if id.offset < start]
