"""Which part of a log may be cleaned, and how much it needs it (`min.cleanable.dirty.ratio`, KIP-58, KIP-354).

What was cleaned before ends at the log's `cleaned_to`. What may be cleaned now ends before the active segment, before the first transaction
that is not decided, and before the first segment that is younger than `min.compaction.lag.ms`. It is due when its share of the bytes is
large enough, or when its oldest record has waited for `max.compaction.lag.ms`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..log import PartitionLog
from ..storage import Segment


class Cleanable(NamedTuple):
    """Of a log: from where to where it may be cleaned, the bytes before and in that range, and whether `max.compaction.lag.ms` has passed."""

    start: int
    end: int
    clean_bytes: int
    dirty_bytes: int
    overdue: bool

    @property
    def ratio(self) -> float:
        """Which part of the bytes up to `end` is dirty."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0


def cleanable(log: PartitionLog, now: int) -> Cleanable:
    """What of `log` may be cleaned now; a `cleaned_to` outside of the log is brought back to its start."""
    closed = log.segments[:-1]
    start = max(log.cleaned_to, log.log_start_offset) if log.cleaned_to <= log.log_end_offset else log.log_start_offset
    end = max(start, _end(log, closed, start, now))
    dirty = [segment for segment in closed if segment.next_offset > start and segment.base_offset < end]
    clean_bytes = sum(segment.size for segment in closed if segment.next_offset <= start)
    oldest = min((segment.first_timestamp for segment in dirty if segment.first_timestamp >= 0), default=now)
    overdue = bool(dirty) and now - oldest > log.config.max_compaction_lag_ms
    return Cleanable(start, end, clean_bytes, sum(segment.size for segment in dirty), overdue)


def _end(log: PartitionLog, closed: Sequence[Segment], start: int, now: int) -> int:
    bounds = [log.segments[-1].base_offset, log.last_stable_offset]
    lag = log.config.min_compaction_lag_ms
    if lag > 0:
        young = (each.base_offset for each in closed if each.next_offset > start and each.max_timestamp > now - lag)
        bounds.append(next(young, log.segments[-1].base_offset))
    return min(bounds)


def is_due(found: Cleanable, min_ratio: float) -> bool:
    """Whether it is worth it now."""
    return found.end > found.start and (found.ratio > min_ratio or found.overdue)


def groups(segments: Sequence[Segment], most: int) -> list[list[Segment]]:
    """Runs of neighbours that together are no larger than one segment may be: each becomes one."""
    made: list[list[Segment]] = []
    for segment in segments:
        last = made[-1] if made else None
        fits = (
            last is not None
            and sum(each.size for each in last) + segment.size <= most
            and segment.next_offset - last[0].base_offset < 1 << 31
        )
        if last is not None and fits:
            last.append(segment)
        else:
            made.append([segment])
    return made
