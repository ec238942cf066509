"""Checks that a log still has the records below its recovery point. A deleted or emptied file is
not the same as an unclean stop.

Rules. The recovery point is written when everything below it is on the disk. So below it no segment
is empty, unless compaction removed its records; no segment has indexes without a `.log`, because a
deletion removes the indexes first; and after a clean stop the log ends at the recovery point. Two
losses cannot be detected: files deleted at the beginning of a log look like retention, and after an
unclean stop files deleted at its end look like a truncation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..formats.errors import BadFile
from ..formats.names import INDEX, LOG, segment_name
from .segment import FileSegment


class LostRecords(BadFile):
    """A log lacks records that were flushed."""


def check_whole(
    folder: str,
    files: Iterable[tuple[int, str]],
    segments: Sequence[FileSegment],
    recovery_point: int,
    log_start_offset: int,
    *,
    clean: bool,
    has_gaps: bool,
) -> None:
    """Raises LostRecords when records are missing below the recovery point. After an unclean stop a
    log that ends below it is not refused, but recovered as a whole: the checkpoint or the log may
    be wrong."""
    bases = [segment.base_offset for segment in segments]
    ends = recovery_point if clean or not bases else min(bases[-1], recovery_point)
    for base, kind in files:
        if kind == INDEX and base not in bases and max(log_start_offset, *bases[:1], 0) < base < ends:
            raise LostRecords("the segment is missing, and was flushed", file=path(folder, base), offset=0)
    for segment, following in pairwise(segments):
        is_due = log_start_offset < following.base_offset <= recovery_point and not has_gaps
        if is_due and not segment.size:
            raise LostRecords("the segment is empty, and was flushed", file=segment.path(LOG), offset=0)
    end = segments[-1].next_offset if segments else log_start_offset
    if clean and end < recovery_point:
        file, size = (segments[-1].path(LOG), segments[-1].size) if segments else (path(folder, end), 0)
        raise LostRecords(f"the log ends at {end}, and was flushed up to {recovery_point}", file=file, offset=size)


def path(folder: str, base_offset: int) -> str:
    return f"{folder}/{segment_name(base_offset)}{LOG}"
