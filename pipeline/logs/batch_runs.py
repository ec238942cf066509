"""Reads a part of a segment in runs: some megabytes of whole batches with their headers, and the
bytes between them that are no batch.

Memory holds one run (or one larger batch), whatever the size of the segment. After unreadable
bytes, the next batch is searched byte by byte. An incomplete batch or preallocated space at the end
of a log, as during a write or after a crash, is the end of the log and no error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkadouble.server.log.formats import BadFile
from kafkadouble.server.log.formats.scan import LARGEST, next_batch
from kafkadouble.server.log.formats.segment import is_room
from kafkadouble.wire import columns
from kafkadouble.wire.batch_header import LOG_OVERHEAD
from kafkadouble.wire.errors import Truncated, WireError

from .options import FAIL
from .segment_file import SegmentFile
from .segments import SegmentListing

RECORD_BYTES, HEADER_BYTES = 16 << 20, 4 << 20
"""Bytes that are read at once: for records, and for headers alone, where a smaller buffer stays in
the cache."""


class BatchRun(NamedTuple):
    """Whole batches. `position` is that of the buffer in the file; positions of the headers are
    relative to it."""

    position: int
    buffer: bytes
    headers: columns.Headers


class UnreadableRange(NamedTuple):
    """Bytes from `position` to `end` that hold no batch. `torn`: the log ends here."""

    position: int
    end: int
    problem: BadFile
    torn: bool = False


def batch_runs(
    file: SegmentFile, segment: SegmentListing, start: int, end: int, on_corrupt: str, most: int = HEADER_BYTES
) -> Iterator[BatchRun | UnreadableRange]:
    """Everything from `start`, the start of a batch, to `end`. Bytes that are no batch raise
    BadFile with their position, unless they may be left out. A torn end is returned as such, and is
    no error."""
    position, size = start, most
    may_end = segment.last and (end >= segment.size or len(file) < end)
    end = min(end, len(file))
    while position < end:
        buffer = file[position : min(position + size, end)]
        headers, problem = _walk(buffer)
        if len(headers):
            yield BatchRun(position, buffer, headers)
            position += int(headers.end[-1])
            size = most
        elif problem is None and (size := _larger(buffer, end - position)):
            continue
        elif problem is None:
            problem = Truncated(f"{end - position} bytes left, the batch has more", offset=0)
        if problem is not None:
            found = min(next_batch(file, position + 1, segment.base_offset), end)
            error = BadFile(problem.problem, file=segment.path, offset=position, path=problem.path)
            torn = may_end and found >= end and (isinstance(problem, Truncated) or is_room(file, position))
            lost = UnreadableRange(position, found, error, torn)
            if on_corrupt == FAIL and not lost.torn:
                raise lost.problem
            yield lost
            position, size = lost.end, most


def _walk(buffer: bytes) -> tuple[columns.Headers, WireError | None]:
    """The batches from the start, and the error after them."""
    try:
        return columns.walk(buffer), None
    except WireError as problem:
        return columns.walk(memoryview(buffer)[: max(problem.offset, 0)]), problem


def _larger(buffer: bytes, left: int) -> int:
    """The number of bytes of the batch whose beginning this is; 0 when the batch is invalid."""
    size = int.from_bytes(buffer[8:LOG_OVERHEAD], "big", signed=True) + LOG_OVERHEAD
    return size if len(buffer) >= LOG_OVERHEAD and len(buffer) < size <= min(left, LARGEST) else 0
