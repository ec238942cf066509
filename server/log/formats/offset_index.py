"""`.index`: a sparse index from offsets to positions in the segment.

An entry is 8 bytes: an offset, relative to the segment's base offset (int32), and the position
(int32) of the batch that ends with this offset. Both ascend. There is an entry for about every
`index.interval.bytes`, never one for the first batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from .errors import BadFile
from .sparse import Sliceable, good, unpacked
from .sparse import used as _used

_ENTRY = Struct(">ii")
SIZE = _ENTRY.size


class OffsetPosition(NamedTuple):
    """The batch at `position` ends with this offset."""

    offset: int
    position: int


def pack(relative: int, position: int) -> bytes:
    """One entry; `relative` is the offset relative to the base offset."""
    return _ENTRY.pack(relative, position)


def used(data: Sliceable) -> int:
    """The size in bytes of the entries; what follows is preallocated room."""
    return _used(data, SIZE)


def rows(data: Sliceable, base_offset: int, file: str = "") -> Iterator[tuple[OffsetPosition, BadFile | None]]:
    """Every whole entry, and what is wrong with it: its offset and position must be larger than
    those of the last good one."""
    offset, position = -1, -1
    for at, (relative, place) in unpacked(data, _ENTRY, used(data)):
        problem = None
        if relative <= offset:
            message = f"relative offset {relative} after {offset}" if at else f"relative offset {relative}"
            problem = BadFile(message, file=file, offset=at)
        elif place <= position:
            message = f"position {place} after {position}" if at else f"position {place}"
            problem = BadFile(message, file=file, offset=at + 4)
        else:
            offset, position = relative, place
        yield OffsetPosition(base_offset + relative, place), problem


def entries(data: Sliceable, base_offset: int, file: str = "") -> Iterator[OffsetPosition]:
    """The entries. BadFile at the first wrong one, and for a size that is not whole entries."""
    return good(rows(data, base_offset, file), data, SIZE, file)


def check(data: Sliceable, base_offset: int, log_size: int, file: str = "") -> int:
    """How many entries there are. BadFile also for a position beyond the segment of `log_size`
    bytes."""
    count = 0
    for count, entry in enumerate(entries(data, base_offset, file), 1):
        if entry.position >= log_size:
            problem = f"position {entry.position} in a segment of {log_size} bytes"
            raise BadFile(problem, file=file, offset=(count - 1) * SIZE + 4)
    return count
