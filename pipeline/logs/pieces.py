"""Plans a log in pieces that are read separately: segments, and parts of large ones with whole
batches.

Indexes are used here: with valid indexes, a piece holds no more of the file than the bounds need. A
piece is plain values, so that it can be sent to another process. It carries the transactions that
its reader needs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from .batch_runs import BatchRun, batch_runs
from .bounds import OffsetBounds, bounds_of
from .finding import Folder, find
from .indexes import OffsetIndex
from .log_filter import FAR
from .options import COMMITTED, SKIP, LogOptions
from .segment_file import SegmentFile, Vanished, opened
from .segments import SegmentListing, requested, segments_of
from .transactions import Aborted, TransactionOutcomes, decided


class SegmentPiece(NamedTuple):
    """Bytes of a segment, with bounds: offsets from `first`, before `end_offset`. Batches whose
    records are all earlier than `since` (ms) may be left out."""

    segment: SegmentListing
    start: int
    end: int
    first: int = 0
    end_offset: int = FAR
    aborted: tuple[Aborted, ...] = ()
    since: int = 0

    @property
    def size(self) -> int:
        """The size in bytes of the file."""
        return self.end - self.start


def plan(paths: Iterable[str | os.PathLike[str]], options: LogOptions, *, split: bool = True) -> list[SegmentPiece]:
    """All requested pieces, in order. `split`: large segments may become several pieces."""
    return [piece for folder in find(paths, options) for piece in _of_folder(folder, options, split)]


def _of_folder(folder: Folder, options: LogOptions, split: bool) -> Iterator[SegmentPiece]:
    log = segments_of(folder)
    segments = requested(folder, log)
    if not set(segments) <= set(log):
        log = segments  # a snapshot of the metadata, or files of other names
    bounds = bounds_of(folder, log, options)
    known = decided(folder.path, log) if options.isolation == COMMITTED else TransactionOutcomes()
    end = min(bounds.end, known.stable)
    for segment in segments:
        if (segment.base_offset or 0) < end and segment.next_offset > bounds.first:
            for start, stop in _cuts(segment, OffsetBounds(bounds.first, end), options.split_bytes if split else FAR):
                aborted = known.between(segment.base_offset or 0, segment.next_offset)
                yield SegmentPiece(segment, start, stop, bounds.first, end, aborted, options.narrowing.since)


def _cuts(segment: SegmentListing, bounds: OffsetBounds, split: int) -> list[tuple[int, int]]:
    """The start and end positions of the pieces. A file that vanishes here is planned as one piece:
    its reader reports it."""
    small = segment.size <= split
    if not segment.size or (small and bounds.first <= (segment.base_offset or 0) and bounds.end >= segment.next_offset):
        return [(0, segment.size)]
    try:
        with opened(segment) as file:
            index = OffsetIndex(segment, file)
            start = index.position_before(bounds.first - 1) if bounds.first > (segment.base_offset or 0) else 0
            end = max(index.position_after(bounds.end), start)
            if end - start <= split:
                return [(start, end)]
            borders = [start, *_borders(file, segment, index, start, end, split), end]
            return list(pairwise(borders))
    except Vanished:
        return [(0, segment.size)]


def _borders(
    file: SegmentFile, segment: SegmentListing, index: OffsetIndex, start: int, end: int, split: int
) -> Iterator[int]:
    """Starts of batches, about `split` bytes apart: from the index, or else found by walking from
    the previous one."""
    position = start
    while end - position > split:
        border = index.border(position + split) or _walked(file, segment, position, end, split)
        if not position < border < end:
            return
        yield border
        position = border


def _walked(file: SegmentFile, segment: SegmentListing, start: int, end: int, split: int) -> int:
    """The first batch that begins at least `split` bytes after `start`; the end when there is none,
    or the bytes are unreadable."""
    for run in batch_runs(file, segment, start, end, SKIP):
        if not isinstance(run, BatchRun):
            return end
        starts = run.headers.position + run.position
        later = starts[starts >= start + split]
        if len(later):
            return int(later[0])
    return end
