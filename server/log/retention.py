"""Which of a log's oldest segments are due to be deleted: below its start, too many bytes, too old (KIP-107, `retention.bytes`, `.ms`).

Pure: it looks at segments and settings, and counts. As in Kafka, only whole segments go, only from the front, and only what lies below the
high watermark. The active segment goes too when it is too old, by size only when nothing at all may be kept.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .config import LogConfig
from .storage import Segment


class Dropped(NamedTuple):
    """What one rule deleted."""

    reason: str
    segments: int
    size: int


Due = Callable[[Segment, int], bool]
"""Whether a segment, which ends at this offset, is due."""


def rules(segments: Sequence[Segment], log_start_offset: int, config: LogConfig, now: int) -> list[tuple[str, Due]]:
    """The rules that hold for a log, in the order in which they are applied; a log without `delete` keeps what it was not told to drop."""

    found: list[tuple[str, Due]] = [("below the log start offset", below_start(segments, log_start_offset))]
    if config.deletes and config.retention_bytes >= 0:
        found.append(("retention.bytes", _too_large(segments, config.retention_bytes)))
    if config.deletes and config.retention_ms >= 0:
        found.append(("retention.ms", lambda segment, end: now - age_from(segment) > config.retention_ms))
    return found


def below_start(segments: Sequence[Segment], log_start_offset: int) -> Due:
    """The rule that holds for every log: a segment goes that ends at or below the log start offset, but for the active one."""
    return lambda segment, end: end <= log_start_offset and segment is not segments[-1]


def _too_large(segments: Sequence[Segment], limit: int) -> Due:
    excess: int | None = None

    def due(segment: Segment, end: int) -> bool:
        nonlocal excess
        if excess is None:  # counted when the rule is first asked: those before it may have deleted something
            excess = sum(each.size for each in segments) - limit
        if segment.size > excess:
            return False
        excess -= segment.size
        return True

    return due


def age_from(segment: Segment) -> int:
    """The time (ms) from which the age of a segment counts: its largest timestamp, or when it was last written to if it has none."""
    return segment.max_timestamp if segment.max_timestamp >= 0 else segment.modified


def count_due(segments: Sequence[Segment], due: Due, log_end_offset: int, high_watermark: int) -> int:
    """How many segments, from the oldest on, may be deleted by this rule."""
    for index, segment in enumerate(segments):
        last = index + 1 == len(segments)
        end = log_end_offset if last else segments[index + 1].base_offset
        if high_watermark < end or (last and not segment.size) or not due(segment, end):
            return index
    return len(segments)
