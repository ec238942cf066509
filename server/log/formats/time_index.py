"""`.timeindex`: a sparse index from timestamps to offsets in the segment (KIP-33).

An entry is 12 bytes: a timestamp (int64), and an offset relative to the segment's base offset
(int32). Up to this offset, no record of the segment is later than the timestamp. The offset is the
last one of the batch that has the timestamp. Timestamps ascend, offsets never fall. Closing a
segment adds an entry for its largest timestamp, so that the last entry of a closed segment holds
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from .errors import BadFile
from .sparse import Sliceable, good, unpacked
from .sparse import used as _used

_ENTRY = Struct(">qi")
SIZE = _ENTRY.size


class TimestampOffset(NamedTuple):
    """The largest timestamp so far, and the last offset of the batch that has it."""

    timestamp: int
    offset: int


def pack(timestamp: int, relative: int) -> bytes:
    """One entry; `relative` is the offset relative to the base offset."""
    return _ENTRY.pack(timestamp, relative)


def used(data: Sliceable) -> int:
    """The size in bytes of the entries; what follows is preallocated room. A file of one entry is
    never room, even if it is all zeros: that is a record of 1970."""
    return SIZE if len(data) == SIZE else _used(data, SIZE)


def rows(data: Sliceable, base_offset: int, file: str = "") -> Iterator[tuple[TimestampOffset, BadFile | None]]:
    """Every whole entry, and what is wrong with it: compared with the last good one, its timestamp
    must be larger, its offset not smaller."""
    timestamp, offset = -1, 0
    for at, (time, relative) in unpacked(data, _ENTRY, used(data)):
        problem = None
        if time <= timestamp:
            message = f"timestamp {time} after {timestamp}" if at else f"timestamp {time}"
            problem = BadFile(message, file=file, offset=at)
        elif relative < offset:
            message = f"relative offset {relative} after {offset}" if at else f"relative offset {relative}"
            problem = BadFile(message, file=file, offset=at + 8)
        else:
            timestamp, offset = time, relative
        yield TimestampOffset(time, base_offset + relative), problem


def entries(data: Sliceable, base_offset: int, file: str = "") -> Iterator[TimestampOffset]:
    """The entries. BadFile at the first wrong one, and for a size that is not whole entries."""
    return good(rows(data, base_offset, file), data, SIZE, file)


def check(data: Sliceable, base_offset: int, next_offset: int, file: str = "") -> int:
    """How many entries there are. BadFile also for an offset at or after `next_offset`, the end of
    the segment."""
    count = 0
    for count, entry in enumerate(entries(data, base_offset, file), 1):
        if entry.offset >= next_offset:
            problem = f"offset {entry.offset} in a segment that ends before {next_offset}"
            raise BadFile(problem, file=file, offset=(count - 1) * SIZE + 8)
    return count
