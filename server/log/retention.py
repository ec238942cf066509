"""Decides which of the oldest segments are due to be deleted: below the log start offset, or over
`retention.bytes` or `retention.ms` (KIP-107).

Pure: it reads segments and configs, and counts. As in Kafka, only whole segments are deleted,
oldest first, and only below the high watermark. The active segment is deleted too when it is too
old; because of its size only when nothing at all may be kept.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .config import LogConfig
from .storage import LogSegment


class DeletedSegments(NamedTuple):
    """The segments that one rule deleted."""

    reason: str
    segments: int
    size: int


Due = Callable[[LogSegment, int], bool]
"""Whether a segment, which ends at this offset, is due."""


def rules(segments: Sequence[LogSegment], log_start_offset: int, config: LogConfig, now: int) -> list[tuple[str, Due]]:
    """The rules for a log, in the order in which they apply. A log without the policy `delete`
    deletes only what lies below its log start offset."""

    found: list[tuple[str, Due]] = [("below the log start offset", below_start(segments, log_start_offset))]
    if config.deletes and config.retention_bytes >= 0:
        found.append(("retention.bytes", _too_large(segments, config.retention_bytes)))
    if config.deletes and config.retention_ms >= 0:
        found.append(("retention.ms", lambda segment, end: now - age_from(segment) > config.retention_ms))
    return found


def below_start(segments: Sequence[LogSegment], log_start_offset: int) -> Due:
    """The rule for every log: a segment that ends at or below the log start offset is due, except
    the active one."""
    return lambda segment, end: end <= log_start_offset and segment is not segments[-1]


def _too_large(segments: Sequence[LogSegment], limit: int) -> Due:
    excess: int | None = None

    def due(segment: LogSegment, end: int) -> bool:
        nonlocal excess
        # Counted on the first call: an earlier rule may have deleted segments.
        if excess is None:
            excess = sum(segment.size for segment in segments) - limit
        if segment.size > excess:
            return False
        excess -= segment.size
        return True

    return due


def age_from(segment: LogSegment) -> int:
    """The time from which the age of a segment counts (ms): its largest timestamp, or without one
    the time of the last append."""
    return segment.max_timestamp if segment.max_timestamp >= 0 else segment.modified


def count_due(segments: Sequence[LogSegment], due: Due, log_end_offset: int, high_watermark: int) -> int:
    """How many segments, oldest first, this rule may delete."""
    for index, segment in enumerate(segments):
        last = index + 1 == len(segments)
        end = log_end_offset if last else segments[index + 1].base_offset
        if high_watermark < end or (last and not segment.size) or not due(segment, end):
            return index
    return len(segments)
