"""Which part of a log may be cleaned, and how urgent that is (`min.cleanable.dirty.ratio`, KIP-58,
KIP-354).

The clean part of a log ends at `cleaned_to`. The part that may be cleaned now ends before the
active segment, before the first open transaction, and before the first segment that is younger than
`min.compaction.lag.ms`. As in Kafka the cleaner takes whole segments, so not the one that holds the
last stable offset. A cleaning is due when the dirty share of the bytes is large enough, or when the
oldest dirty record has waited for `max.compaction.lag.ms`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from ..log import PartitionLog
from ..storage import LogSegment

_base_offset = attrgetter("base_offset")


class LogToClean(NamedTuple):
    """The part of a log that may be cleaned (Kafka's LogToClean): its start and end offset, the
    bytes before it and in it, and whether `max.compaction.lag.ms` has passed."""

    start: int
    end: int
    clean_bytes: int
    dirty_bytes: int
    overdue: bool

    @property
    def ratio(self) -> float:
        """The dirty share of the bytes up to `end`."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0


def cleanable(log: PartitionLog, now: int, *, whole_segments: bool = True) -> LogToClean:
    """The part of `log` that may be cleaned now. A `cleaned_to` outside of the log counts as its
    start. Without `whole_segments` it may end within a segment, at the last stable offset."""
    closed = log.segments[:-1]
    start = max(log.cleaned_to, log.log_start_offset) if log.cleaned_to <= log.log_end_offset else log.log_start_offset
    end = max(start, _end(log, closed, start, now, whole_segments))
    dirty = [segment for segment in closed if segment.next_offset > start and segment.base_offset < end]
    clean_bytes = sum(segment.size for segment in closed if segment.next_offset <= start)
    oldest = min((segment.first_timestamp for segment in dirty if segment.first_timestamp >= 0), default=now)
    overdue = bool(dirty) and now - oldest > log.config.max_compaction_lag_ms
    return LogToClean(start, end, clean_bytes, sum(segment.size for segment in dirty), overdue)


def _end(log: PartitionLog, closed: Sequence[LogSegment], start: int, now: int, whole_segments: bool) -> int:
    bounds = [log.segments[-1].base_offset, log.last_stable_offset]
    lag = log.config.min_compaction_lag_ms
    if lag > 0:
        young = (each.base_offset for each in closed if each.next_offset > start and each.max_timestamp > now - lag)
        bounds.append(next(young, log.segments[-1].base_offset))
    end = min(bounds)
    if whole_segments:
        end = log.segments[max(0, bisect_right(log.segments, end, key=_base_offset) - 1)].base_offset
    return end


def is_due(clean: LogToClean, min_ratio: float) -> bool:
    """Whether a cleaning is due now."""
    return clean.end > clean.start and (clean.ratio > min_ratio or clean.overdue)


def groups(segments: Sequence[LogSegment], most: int) -> list[list[LogSegment]]:
    """Groups neighbours that together are no larger than one segment may be: each group becomes one
    segment."""
    made: list[list[LogSegment]] = []
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
