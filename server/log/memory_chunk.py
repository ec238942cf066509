"""A piece of memory that is filled with whole batches from the front, and its sparse index.

Rules. A chunk is allocated once and never resized, so that views of it stay good. Bytes never
change after they were written, with one exception: a batch that was appended without its checksum
gets it before the first view of it is handed out. So a reader may keep a view of a chunk's memory
(LASTING) in place of a copy. The index is three arrays with one entry for each 4 KiB of batches: an
object for each batch would take more memory than a small batch.
"""

from __future__ import annotations

import mmap
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import suppress
from struct import Struct

from kafkadouble.wire.batch import seal
from kafkadouble.wire.checksum import Buffer

from .storage import INDEX_INTERVAL, LogAppendInfo, Slice

_MAPPED = 1 << 20
"""A chunk of this size or larger is an anonymous mapping. The system commits only the pages that
were written to, so unused room at the end costs nothing. The mapping is private to this process
(ACCESS_COPY), also after a fork. Smaller chunks are bytearrays: a mapping for each would exceed the
system's limit on mappings (65,530 on Linux)."""

_POPULATED = 64 << 10
"""When a batch of this size or larger is copied to a mapping, its pages are made in one call.
Making each page at its first access would take longer than the rest of the append."""

_POPULATE_WRITE = 23
"""MADV_POPULATE_WRITE of Linux 5.14; Python has no name for it."""


class AllocatedBuffer(bytearray):
    """The memory of a small chunk."""

    __slots__ = ()


class MappedBuffer(mmap.mmap):
    """The memory of a large chunk."""

    __slots__ = ()


LASTING = (AllocatedBuffer, MappedBuffer)
"""The memory of chunks. The bytes of a view of it never change."""

_WALK = Struct(">qi11xi")  # base offset, length, last offset delta
# Base offset, length, leader epoch: the first bytes of a batch, outside of its checksum.
_STAMP = Struct(">qii")
_TIMESTAMP = Struct(">q")
_AT_TIMESTAMP = 35  # the position of the largest timestamp in a batch
# The offset and the length field, which the length does not count.
_LOG_OVERHEAD = 12


class MemoryChunk:
    """Up to `capacity` bytes of batches, beginning with `base_offset`."""

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
        # Bytes that may still be appended. 0 after a truncation: readers may have views of the
        # bytes that were cut.
        self._room = capacity

    def _begin(self, base_offset: int, memory: memoryview) -> None:
        """Begins empty, in this memory."""
        self.base_offset = base_offset
        self.next_offset = base_offset  # one past the last record
        self.size = 0
        self._memory, self._readable = memory, memory.toreadonly()
        self._offsets = array("q")  # the base offset of the batch at each entry
        self._positions = array("I")  # the position of that batch
        # The largest timestamp from the start of the chunk to the next entry, so ascending.
        self._timestamps = array("q")
        self._since_entry = INDEX_INTERVAL
        self._unsealed: list[int] = []  # positions of the batches without a checksum

    def copy(self) -> MemoryChunk:
        """The same batches in the same memory, with an index of its own. Nothing is appended to the
        copy; what is appended here later is not in it."""
        if self._unsealed:
            self._seal()
        made = MemoryChunk.__new__(MemoryChunk)
        made._begin(self.base_offset, self._readable[: self.size])
        made._room = 0
        made.next_offset, made.size, made._since_entry = self.next_offset, self.size, self._since_entry
        made._offsets, made._positions, made._timestamps = self._offsets[:], self._positions[:], self._timestamps[:]
        return made

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp of all its batches, -1 when none has one."""
        return self._timestamps[-1] if self._timestamps else -1

    @property
    def overhead(self) -> int:
        """The memory that its index takes, in bytes, as allocated."""
        return sum(
            index.buffer_info()[1] * index.itemsize for index in (self._offsets, self._positions, self._timestamps)
        )

    def append(self, batch: Buffer, info: LogAppendInfo) -> bool:
        """Copies a batch to the end; False when it has no room."""
        size = len(batch)
        if size > self._room:
            return False
        position = self.size
        if size >= _POPULATED:
            _populate(self._memory, position, position + size)
        self._memory[position : position + size] = batch
        _STAMP.pack_into(self._memory, position, info.base_offset, size - _LOG_OVERHEAD, info.leader_epoch)
        if not info.sealed:
            self._unsealed.append(position)
        self._room -= size
        self._enter(position, size, info)
        return True

    def _enter(self, position: int, size: int, info: LogAppendInfo) -> None:
        """Counts the batch at this position, which is the end, as part of the chunk."""
        timestamp, timestamps = info.max_timestamp, self._timestamps
        if self._since_entry >= INDEX_INTERVAL:
            self._offsets.append(info.base_offset)
            self._positions.append(position)
            timestamps.append(max(timestamp, timestamps[-1]) if timestamps else timestamp)
            self._since_entry = 0
        elif timestamp > timestamps[-1]:
            timestamps[-1] = timestamp
        self._since_entry += size
        self.size = position + size
        self.next_offset = info.last_offset + 1

    def read(
        self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool, sealed: bool = True
    ) -> Slice | None:
        """Reads as `LogSegment.read` does."""
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
        """Yields as `LogSegment.batches` does."""
        if self._unsealed:
            self._seal()
        # The index entry before the first batch that is no older.
        entry = bisect_left(self._timestamps, min_timestamp)
        position = max(self.find(offset), self._positions[entry] if entry < len(self._positions) else self.size)
        while position < self.size:
            end = self._batch_end(position)
            if self._timestamp(position) >= min_timestamp:
                yield self._readable[position:end]
            position = end

    def cut(self, offset: int) -> None:
        """Deletes every batch that reaches `offset` or beyond. Nothing is appended afterwards."""
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
        """Restores the end of the chunk from the batches after the last index entry."""
        while position < self.size:
            base, length, delta = _WALK.unpack_from(self._memory, position)
            self.next_offset = base + delta + 1
            self._timestamps[-1] = max(self._timestamps[-1], self._timestamp(position))
            position += length + _LOG_OVERHEAD

    def find(self, offset: int) -> int:
        """The position of the batch that holds `offset`, or of the first batch after it; `size`
        when there is none."""
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

    def _last_boundary(self, start: int, limit: int) -> int:
        """The last end of a batch at or before `limit`, but not before `start`."""
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


def _allocated(capacity: int) -> AllocatedBuffer | MappedBuffer:
    return MappedBuffer(-1, capacity, access=mmap.ACCESS_COPY) if capacity >= _MAPPED else AllocatedBuffer(capacity)


def _populate(memory: memoryview, start: int, end: int) -> None:
    """Makes the pages that hold these bytes, if the system can do it in one call. Otherwise they
    are made at their first access."""
    if sys.platform == "linux" and isinstance(memory.obj, MappedBuffer):
        start -= start % mmap.PAGESIZE
        with suppress(OSError):
            memory.obj.madvise(_POPULATE_WRITE, start, end - start)
