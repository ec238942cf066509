"""One piece of memory with whole batches in it, filled from the front, and its sparse index.

Rules. A chunk is allocated once and never resized, so that views of it stay good; what is written never changes. (The one exception: a
batch that was put in without its checksum gets it before the first view of it is handed out.) So whoever finds a view to be of a chunk's
memory (LASTING) may keep it in place of a copy. The index is three arrays, one entry for each 4 KiB of batches: an object for each batch
would cost more than a small batch itself.
"""

import mmap
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import suppress
from struct import Struct

from kafkadouble.wire.batch import seal
from kafkadouble.wire.checksum import Buffer

from .storage import INDEX_INTERVAL, Placed, Slice

_MAPPED = 1 << 20
"""From this size on a chunk is an anonymous mapping, of which the system commits only the pages that were written to: an end that no batch
fits into costs nothing. It is private to this process (ACCESS_COPY), also after a fork. A small chunk is a bytearray: a mapping for each
would run into the system's limit on mappings (65,530 on Linux)."""

_POPULATED = 64 << 10
"""From this size on the pages of a mapping that a batch is copied to are made in one call: page after page, as they are touched, takes longer
than all else that is done with a large batch."""

_POPULATE_WRITE = 23
"""MADV_POPULATE_WRITE of Linux 5.14, which Python does not name."""


class Allocated(bytearray):
    """The memory of a small chunk."""

    __slots__ = ()


class Mapped(mmap.mmap):
    """The memory of a large chunk."""

    __slots__ = ()


LASTING = (Allocated, Mapped)
"""What a view is of whose bytes never change: memory that a chunk has handed out."""

_WALK = Struct(">qi11xi")  # base offset, length, last offset delta
_STAMP = Struct(">qii")  # base offset, length, leader epoch: what a batch begins with, and its checksum does not cover
_TIMESTAMP = Struct(">q")
_AT_TIMESTAMP = 35  # where a batch header has its largest timestamp
_LOG_OVERHEAD = 12  # the offset and the length, which the length does not count


class Chunk:
    """Up to `capacity` bytes of batches, from `base_offset` on."""

    __slots__ = (
        "_memory",
        "_offsets",
        "_positions",
        "_readable",
        "_room",
        "_since_entry",
        "_timestamps",
        "_unsealed",
        "base_offset",
        "next_offset",
        "size",
    )

    def __init__(self, base_offset: int, capacity: int) -> None:
        self._begin(base_offset, memoryview(_allocated(capacity)))
        self._room = (
            capacity  # bytes that may still be appended; 0 once cut, because views of what was cut off may be about
        )

    def _begin(self, base_offset: int, memory: memoryview) -> None:
        """Empty, in this memory."""
        self.base_offset = base_offset
        self.next_offset = base_offset  # one past the last record
        self.size = 0
        self._memory, self._readable = memory, memory.toreadonly()
        self._offsets = array("q")  # base offset of the batch at each entry
        self._positions = array("I")  # where that batch lies
        self._timestamps = array("q")  # the largest timestamp from the chunk's start to the next entry, so ascending
        self._since_entry = INDEX_INTERVAL
        self._unsealed: list[int] = []  # positions of the batches that have no checksum yet

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp of all its batches, -1 when it has none."""
        return self._timestamps[-1] if self._timestamps else -1

    @property
    def overhead(self) -> int:
        """Bytes that its index takes, as it was allocated."""
        return sum(
            index.buffer_info()[1] * index.itemsize for index in (self._offsets, self._positions, self._timestamps)
        )

    def append(self, batch: Buffer, placed: Placed) -> bool:
        """Copy a batch to the end; False when there is no room for it."""
        size = len(batch)
        if size > self._room:
            return False
        position = self.size
        if size >= _POPULATED:
            _populate(self._memory, position, position + size)
        self._memory[position : position + size] = batch
        _STAMP.pack_into(self._memory, position, placed.base_offset, size - _LOG_OVERHEAD, placed.leader_epoch)
        if not placed.sealed:
            self._unsealed.append(position)
        self._room -= size
        self._enter(position, size, placed)
        return True

    def _enter(self, position: int, size: int, placed: Placed) -> None:
        """A batch lies there, at the end: it is one of the chunk's from now on."""
        timestamp, timestamps = placed.max_timestamp, self._timestamps
        if self._since_entry >= INDEX_INTERVAL:
            self._offsets.append(placed.base_offset)
            self._positions.append(position)
            timestamps.append(max(timestamp, timestamps[-1]) if timestamps else timestamp)
            self._since_entry = 0
        elif timestamp > timestamps[-1]:
            timestamps[-1] = timestamp
        self._since_entry += size
        self.size = position + size
        self.next_offset = placed.last_offset + 1

    def read(
        self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool, sealed: bool = True
    ) -> Slice | None:
        """As a segment's `read`."""
        start = self.find(offset)
        stop = self.size if upper_bound >= self.next_offset else self.find(upper_bound)
        end = self._last_boundary(start, min(stop, start + max_bytes))
        if end == start and at_least_one and start < stop:
            end = self._batch_end(start)
        if end <= start:
            return None
        if sealed and self._unsealed:
            self._seal()
        base_offset: int = _WALK.unpack_from(self._memory, start)[0]
        next_offset = self.next_offset if end == self.size else _WALK.unpack_from(self._memory, end)[0]
        return Slice(self._readable[start:end], base_offset, next_offset)

    def batches(self, offset: int, min_timestamp: int) -> Iterator[memoryview]:
        """As a segment's `batches`."""
        if self._unsealed:
            self._seal()
        position = max(self.find(offset), self._first_reaching(min_timestamp))
        while position < self.size:
            end = self._batch_end(position)
            if self._timestamp(position) >= min_timestamp:
                yield self._readable[position:end]
            position = end

    def cut(self, offset: int) -> None:
        """Drop every batch that reaches `offset` or beyond, and take no more."""
        self.size = size = self.find(offset)
        self._room = 0
        self._unsealed = [position for position in self._unsealed if position < size]
        keep = bisect_left(self._positions, size)
        del self._offsets[keep:], self._positions[keep:], self._timestamps[keep:]
        self.next_offset = self.base_offset
        if keep:
            self._timestamps[-1] = self._timestamps[-2] if keep > 1 else -1
            self._look_back(self._positions[-1])

    def _look_back(self, position: int) -> None:
        """Learn from the batches after the last entry what the end of the chunk is now."""
        while position < self.size:
            base, length, delta = _WALK.unpack_from(self._memory, position)
            self.next_offset = base + delta + 1
            self._timestamps[-1] = max(self._timestamps[-1], self._timestamp(position))
            position += length + _LOG_OVERHEAD

    def find(self, offset: int) -> int:
        """Where the batch lies that holds `offset`, or else the first one after it; `size` when there is none."""
        if offset >= self.next_offset:
            return self.size
        entry = bisect_right(self._offsets, offset) - 1
        position = self._positions[entry] if entry > 0 else 0
        memory, size = self._memory, self.size
        while position < size:
            base, length, delta = _WALK.unpack_from(memory, position)
            if base + delta >= offset:
                return position
            position += length + _LOG_OVERHEAD
        return size

    def _first_reaching(self, timestamp: int) -> int:
        """Where the stretch begins that has the first batch as late as `timestamp`; `size` when there is none."""
        entry = bisect_left(self._timestamps, timestamp)
        return self._positions[entry] if entry < len(self._positions) else self.size

    def _last_boundary(self, start: int, limit: int) -> int:
        """The last end of a batch at or before `limit`, no earlier than `start`."""
        if limit >= self.size:
            return self.size
        if limit <= start:
            return start
        position = max(start, self._positions[bisect_right(self._positions, limit) - 1])
        while (end := self._batch_end(position)) <= limit:
            position = end
        return position

    def _batch_end(self, position: int) -> int:
        length: int = _WALK.unpack_from(self._memory, position)[1]
        return position + length + _LOG_OVERHEAD

    def _timestamp(self, position: int) -> int:
        timestamp: int = _TIMESTAMP.unpack_from(self._memory, position + _AT_TIMESTAMP)[0]
        return timestamp

    def _seal(self) -> None:
        for position in self._unsealed:
            seal(self._memory[position : self._batch_end(position)])
        self._unsealed.clear()


def _allocated(capacity: int) -> Allocated | Mapped:
    return Mapped(-1, capacity, access=mmap.ACCESS_COPY) if capacity >= _MAPPED else Allocated(capacity)


def _populate(memory: memoryview, start: int, end: int) -> None:
    """Make the pages that hold these bytes, where the system can; elsewhere they come as they are touched."""
    if sys.platform == "linux" and isinstance(memory.obj, Mapped):
        start -= start % mmap.PAGESIZE
        with suppress(OSError):
            memory.obj.madvise(_POPULATE_WRITE, start, end - start)
