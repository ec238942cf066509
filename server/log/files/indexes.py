"""The two sparse indexes of a segment, from offsets to positions and from timestamps to offsets: in
memory while they grow, in their files afterwards.

Entries are Kafka's (`formats.offset_index`, `formats.time_index`). The active segment has them in
arrays, and writes them to its files in groups. Of a closed segment nothing is kept in memory: a
lookup is a binary search with a dozen small reads. An entry is a hint: its user looks at the batch
that it leads to.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import itemgetter, le, lt
from struct import Struct
from typing import NamedTuple, Protocol

from ..formats import offset_index, time_index
from ..formats.errors import BadFile
from ..formats.offset_index import OffsetPosition
from ..formats.sparse import check_size
from ..formats.time_index import TimestampOffset
from .disk import File

_BUNCH = 128
"""So many entries may wait in memory before they are written to the file. Recovery rebuilds them,
so none is lost."""

_NEAR = 64
"""A search among so few entries reads all of them at once."""

_BLOCK = 5_460 * time_index.SIZE


class Index(Protocol):
    """Both indexes of one segment."""

    def before(self, offset: int) -> OffsetPosition | None:
        """The last entry whose batch ends at or before `offset`."""
        ...

    def position_before(self, position: int) -> int:
        """The largest indexed position below this one; 0 when there is none."""
        ...

    def entry_from(self, offset: int) -> int | None:
        """The offset of the first entry at or above `offset`."""
        ...

    def at(self, timestamp: int) -> TimestampOffset | None:
        """The last entry that is not later than `timestamp`."""
        ...

    @property
    def latest(self) -> TimestampOffset | None:
        """The last entry of the time index."""
        ...

    def close(self) -> None:
        """Closes the open files."""
        ...


class GrowingIndex:
    """The index of a segment that is appended to. It is full when one of its files would be larger
    than `most` bytes."""

    __slots__ = (
        "_base",
        "_index",
        "_offsets",
        "_positions",
        "_time_index",
        "_time_offsets",
        "_time_written",
        "_times",
        "_written",
        "full",
        "most",
    )

    def __init__(self, base_offset: int, index: File, time_index: File, most: int) -> None:
        self._base, self._index, self._time_index, self.most = base_offset, index, time_index, most
        # Of the last record of each batch; of the batch.
        self._offsets, self._positions = array("i"), array("i")
        self._times, self._time_offsets = array("q"), array("i")
        self._written = self._time_written = 0  # entries that are in the files
        self.full = False

    def load(self, log_size: int) -> None:
        """Reads the entries from the files. BadFile when a segment of `log_size` bytes cannot have
        them."""
        data, times = self._index.read(0, self._index.size), self._time_index.read(0, self._time_index.size)
        data, times = data[: offset_index.used(data)], times[: time_index.used(times)]
        check_size(data, offset_index.SIZE, "by offset")
        check_size(times, time_index.SIZE, "by time")
        both = array("i", data)
        if sys.byteorder == "little":
            both.byteswap()
        self._offsets, self._positions = both[0::2], both[1::2]
        if times:
            columns = zip(*Struct(">qi").iter_unpack(times), strict=True)
            self._times, self._time_offsets = array("q", next(columns)), array("i", next(columns))
        for column in (self._offsets, self._positions, self._times):
            if column and (column[0] < 0 or not all(map(lt, column, column[1:]))):
                raise BadFile("has entries that do not ascend")
        if not all(map(le, self._time_offsets, self._time_offsets[1:])):
            raise BadFile("has offsets that fall")
        if self._positions and self._positions[-1] >= log_size:
            raise BadFile(f"has position {self._positions[-1]} in a segment of {log_size} bytes")
        self._written, self._time_written = len(self._offsets), len(self._times)
        self._cut_files()
        self._look_whether_full()

    def clear(self) -> None:
        """Drops all entries, also in the files."""
        self._cut_to(0, 0)

    def add(self, last_offset: int, position: int, timestamp: int, timestamp_offset: int) -> None:
        """The batch at `position` ends with `last_offset`. The largest timestamp so far is that of
        the batch that ends with `timestamp_offset`."""
        self._offsets.append(last_offset - self._base)
        self._positions.append(position)
        self.add_time(timestamp, timestamp_offset)
        self._look_whether_full()
        if len(self._offsets) - self._written >= _BUNCH:
            self.write()

    def add_time(self, timestamp: int, timestamp_offset: int) -> None:
        """Adds an entry to the time index only, unless the last one is as late."""
        if timestamp > (self._times[-1] if self._times else -1):
            self._times.append(timestamp)
            self._time_offsets.append(timestamp_offset - self._base)

    def _look_whether_full(self) -> None:
        most_times = self.most // time_index.SIZE - 1  # one is kept free for the segment's end
        self.full = len(self._offsets) >= self.most // offset_index.SIZE or len(self._times) >= most_times

    def write(self) -> None:
        """Writes the new entries to the files."""
        fresh = range(self._written, len(self._offsets))
        if fresh:
            self._index.append([b"".join(offset_index.pack(self._offsets[i], self._positions[i]) for i in fresh)])
            self._written = len(self._offsets)
        fresh = range(self._time_written, len(self._times))
        if fresh:
            self._time_index.append([b"".join(time_index.pack(self._times[i], self._time_offsets[i]) for i in fresh)])
            self._time_written = len(self._times)

    def cut(self, offset: int) -> None:
        """Drops the entries of batches that reach `offset` or beyond."""
        relative = offset - self._base
        self._cut_to(bisect_left(self._offsets, relative), bisect_left(self._time_offsets, relative))

    def _cut_to(self, entries: int, times: int) -> None:
        del self._offsets[entries:], self._positions[entries:], self._times[times:], self._time_offsets[times:]
        self._written, self._time_written = min(self._written, entries), min(self._time_written, times)
        self._cut_files()
        self._look_whether_full()

    def _cut_files(self) -> None:
        self._index.truncate(self._written * offset_index.SIZE)
        self._time_index.truncate(self._time_written * time_index.SIZE)

    def before(self, offset: int) -> OffsetPosition | None:
        entry = bisect_right(self._offsets, offset - self._base) - 1
        return OffsetPosition(self._offsets[entry] + self._base, self._positions[entry]) if entry >= 0 else None

    def position_before(self, position: int) -> int:
        entry = bisect_left(self._positions, position) - 1
        return self._positions[entry] if entry >= 0 else 0

    def entry_from(self, offset: int) -> int | None:
        entry = bisect_left(self._offsets, offset - self._base)
        return self._offsets[entry] + self._base if entry < len(self._offsets) else None

    def at(self, timestamp: int) -> TimestampOffset | None:
        return self._time(bisect_right(self._times, timestamp) - 1)

    @property
    def overhead(self) -> int:
        """The memory that it takes, in bytes, as allocated."""
        arrays = (self._offsets, self._positions, self._times, self._time_offsets)
        return sum(array.buffer_info()[1] * array.itemsize for array in arrays)

    @property
    def latest(self) -> TimestampOffset | None:
        return self._time(len(self._times) - 1)

    def _time(self, entry: int) -> TimestampOffset | None:
        return TimestampOffset(self._times[entry], self._time_offsets[entry] + self._base) if entry >= 0 else None

    def moved(self, index: str, time_index: str) -> None:
        """Its folder was renamed, while its files were closed: these are their paths."""
        self._index.moved(index)
        self._time_index.moved(time_index)

    def close(self) -> None:
        self.write()
        self._index.close()
        self._time_index.close()

    def __repr__(self) -> str:
        return f"{len(self._offsets)} entries by offset, {len(self._times)} by time"


class _EntryFile(NamedTuple):
    """A file of entries, which is searched without being loaded."""

    file: File
    layout: Struct

    def number(self) -> int:
        return self.file.size // self.layout.size

    def entry(self, number: int) -> tuple[int, int]:
        first, second = self.layout.unpack(self.file.read(number * self.layout.size, self.layout.size))
        return first, second

    def search(self, value: int, column: int, *, inclusive: bool) -> tuple[int, int] | None:
        """The last entry with less than `value` in this column, or with `inclusive` no more."""
        _, near, index = self._near(value, column, inclusive)
        return near[index - 1] if index else None

    def first_from(self, value: int, column: int) -> tuple[int, int] | None:
        """The first entry with no less than `value` in this column."""
        low, near, index = self._near(value, column, inclusive=False)
        if index < len(near):
            return near[index]
        return self.entry(low + index) if low + index < self.number() else None

    def _near(self, value: int, column: int, inclusive: bool) -> tuple[int, list[tuple[int, int]], int]:
        """The number of an entry, the entries from there on, and how many of these have less than
        `value`, or with `inclusive` no more. All entries before them do."""
        low, high = 0, self.number()
        while high - low > _NEAR:
            middle = (low + high) // 2
            found = self.entry(middle)[column]
            if found < value or (inclusive and found == value):
                low = middle
            else:
                high = middle
        size = self.layout.size
        near = list(self.layout.iter_unpack(self.file.read(low * size, (high - low) * size)))
        bisect = bisect_right if inclusive else bisect_left
        return low, near, bisect(near, value, key=itemgetter(column))

    def blocks(self) -> Iterator[bytes]:
        end = self.number() * self.layout.size
        for start in range(0, end, _BLOCK):
            yield self.file.read(start, min(_BLOCK, end - start))


class StoredIndex:
    """The index of a closed segment."""

    __slots__ = ("_base", "_positions", "_times")

    def __init__(self, base_offset: int, index: File, time_index: File) -> None:
        self._base = base_offset
        self._positions = _EntryFile(index, Struct(">ii"))
        self._times = _EntryFile(time_index, Struct(">qi"))

    def before(self, offset: int) -> OffsetPosition | None:
        found = self._positions.search(offset - self._base, 0, inclusive=True)
        return OffsetPosition(found[0] + self._base, found[1]) if found else None

    def position_before(self, position: int) -> int:
        found = self._positions.search(position, 1, inclusive=False)
        return found[1] if found else 0

    def entry_from(self, offset: int) -> int | None:
        found = self._positions.first_from(offset - self._base, 0)
        return found[0] + self._base if found else None

    def at(self, timestamp: int) -> TimestampOffset | None:
        found = self._times.search(timestamp, 0, inclusive=True)
        return TimestampOffset(found[0], found[1] + self._base) if found else None

    @property
    def latest(self) -> TimestampOffset | None:
        count = self._times.number()
        if not count:
            return None
        timestamp, offset = self._times.entry(count - 1)
        return TimestampOffset(timestamp, offset + self._base)

    def ascends(self) -> bool:
        """Whether the entries of the time index are in order. Otherwise a search may miss
        records."""
        before: tuple[int, ...] = (-1, -1)
        for block in self._times.blocks():
            for entry in self._times.layout.iter_unpack(block):
                if entry[0] <= before[0] or entry[1] < before[1]:
                    return False
                before = entry
        return self._times.file.size % time_index.SIZE == 0

    def close(self) -> None:
        self._positions.file.close()
        self._times.file.close()

    def __repr__(self) -> str:
        return f"{self._positions.number()} entries by offset, {self._times.number()} by time, in files"
