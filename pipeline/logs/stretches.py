"""A part of a segment, read stretch by stretch: some megabytes of whole batches with their headers, and what lies between that is no batch.

Memory holds one stretch (or one batch that is larger), whatever the segment's size. Where no batch can begin, the next one is looked for byte
by byte. At the end of a log that is written to, or was when its node died, half a batch, or room that was set aside, is the end and no more.
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

STRETCH, OF_HEADERS = 16 << 20, 4 << 20
"""Bytes that are read at once: for records, and for headers alone, which a smaller cache then holds."""


class BatchRun(NamedTuple):
    """Batches: `position` is where the buffer begins in the file, the positions of the headers count from there."""

    position: int
    buffer: bytes
    headers: columns.Headers


class UnreadableRange(NamedTuple):
    """Bytes from `position` to `end` that hold no batch. `torn`: the log ends here."""

    position: int
    end: int
    problem: BadFile
    torn: bool = False


def stretches(
    file: SegmentFile, segment: SegmentListing, start: int, end: int, on_corrupt: str, most: int = OF_HEADERS
) -> Iterator[BatchRun | UnreadableRange]:
    """All that lies from `start`, where a batch begins, to `end`. BadFile with the byte for what is no batch, unless it may be left out; a torn
    end is given as such, and never an error."""
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
            lost = _lost(file, segment, position, end, problem, may_end)
            if on_corrupt == FAIL and not lost.torn:
                raise lost.problem
            yield lost
            position, size = lost.end, most


def _walk(buffer: bytes) -> tuple[columns.Headers, WireError | None]:
    """The batches from the start on, and what is wrong behind them."""
    try:
        return columns.walk(buffer), None
    except WireError as problem:
        return columns.walk(memoryview(buffer)[: max(problem.offset, 0)]), problem


def _larger(buffer: bytes, left: int) -> int:
    """How much must be read to have the batch whole of which this is the beginning; 0 when it cannot be had."""
    size = int.from_bytes(buffer[8:LOG_OVERHEAD], "big", signed=True) + LOG_OVERHEAD
    return size if len(buffer) >= LOG_OVERHEAD and len(buffer) < size <= min(left, LARGEST) else 0


def _lost(
    file: SegmentFile, segment: SegmentListing, position: int, end: int, problem: WireError, may_end: bool
) -> UnreadableRange:
    found = min(next_batch(file, position + 1, segment.base_offset), end)
    told = BadFile(problem.problem, file=segment.path, offset=position, path=problem.path)
    torn = may_end and found >= end and (isinstance(problem, Truncated) or is_room(file, position))
    return UnreadableRange(position, found, told, torn)
