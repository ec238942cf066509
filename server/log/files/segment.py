"""One segment in files: a `.log`, and beside it the indexes that lead into it and the list of aborted transactions.

Rules. Batches are written as they come, stamped with offset and epoch; what was read are bytes of its own. An index is believed only as far as
the batch bears it out that it leads to; one that lies is made anew from the batches. Of a segment that was found on disk nothing is read before
it is asked for. BadFile, with the position, where a batch should be and is none.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from struct import Struct

from kafkadouble.wire.batch import HEADER_SIZE, read_header, seal
from kafkadouble.wire.checksum import Buffer

from ..formats import txn_index
from ..formats.errors import BadFile
from ..formats.names import DELETED, INDEX, KINDS, LOG, TIME_INDEX, TXN_INDEX, segment_name
from ..storage import ANY_TIMESTAMP, Placed, Slice
from ..transactions import AbortedTransaction
from .disk import Disk, File
from .indexes import GrowingIndex, Index, StoredIndex
from .walking import Place, Walk

_LOGGER = logging.getLogger("kafkadouble.log")

_STAMP = Struct(">qii")  # base offset, length, leader epoch: what a batch begins with, and its checksum does not cover
_LOG_OVERHEAD = 12  # the offset and the length, which the length does not count

LARGEST_READ = 4 << 20
"""A read gives no more at once (unless one batch is larger), as memory does, whatever its asker would take."""

_WINDOW, _WIDEST = 8 << 10, 256 << 10
"""What is read at once to look at batch after batch, at first and later."""

_ENDS = 16
"""So many readers that go on where they stopped are found again without the index."""


class FileSegment:
    """One segment; see `storage.Segment` for what its attributes mean."""

    __slots__ = (
        "_aborted",
        "_ascends",
        "_disk",
        "_ends",
        "_first_timestamp",
        "_folder",
        "_index",
        "_interval",
        "_latest_offset",
        "_limit",
        "_max_timestamp",
        "_modified",
        "_next_offset",
        "_since_entry",
        "base_offset",
        "created",
        "log",
        "size",
    )

    def __init__(self, disk: Disk, folder: str, base_offset: int, limit: int, interval: int) -> None:
        self._disk, self._folder, self.base_offset = disk, folder, base_offset
        self._limit = limit  # no offset in it reaches this
        self.log = disk.open(self.path(LOG))
        self.size = self.log.size
        self.created = 0
        self._index: Index | None = None
        self._ascends = False  # whether the stored index was seen to be in order
        self._aborted: File | None = None
        self._interval = interval  # bytes of batches between two entries of the index
        self._since_entry = 0
        self._next_offset: int | None = None if self.size else base_offset  # these are None until somebody asks
        self._first_timestamp: int | None = None if self.size else -1
        self._max_timestamp: int | None = None if self.size else -1
        self._latest_offset = base_offset  # the last offset of the batch that has the largest timestamp
        self._modified: int | None = None if self.size else 0
        self._ends: dict[int, int] = {}  # where reads ended: the next offset, and its position

    def path(self, kind: str) -> str:
        """The path of its file of this kind."""
        return f"{self._folder}/{segment_name(self.base_offset)}{kind}"

    @property
    def next_offset(self) -> int:
        if self._next_offset is None:
            try:
                self._next_offset = self._find_end()
            except BadFile:  # whoever reads so far will be told
                self._next_offset = self._limit
        return self._next_offset

    @property
    def first_timestamp(self) -> int:
        if self._first_timestamp is None:
            self._first_timestamp = read_header(self.log.read(0, HEADER_SIZE), partial=True).max_timestamp
        return self._first_timestamp

    @property
    def max_timestamp(self) -> int:
        if self._max_timestamp is None:
            self._max_timestamp, self._latest_offset = self._find_latest()
        return self._max_timestamp

    @property
    def modified(self) -> int:
        if self._modified is None:
            self._modified = self._disk.modified(self.path(LOG))
        return self._modified

    @property
    def full(self) -> bool:
        """Whether its index has no room for more."""
        return isinstance(self._index, GrowingIndex) and self._index.full

    @property
    def index(self) -> Index:
        if self._index is None:
            if self._disk.exists(self.path(INDEX)) and self._disk.exists(self.path(TIME_INDEX)):
                self._index = StoredIndex(self.base_offset, *self._index_files())
            else:
                self._mend("is missing")
                return self.index
        return self._index

    def _index_files(self) -> tuple[File, File]:
        return self._disk.open(self.path(INDEX)), self._disk.open(self.path(TIME_INDEX))

    # The active segment

    def activate(self, index: GrowingIndex) -> None:
        """Be appended to from now on; the index knows every entry."""
        self._index = index
        self._ends.clear()
        self._since_entry = self.size - index.position_before(self.size)
        self._limit = 2**63 - 1
        self._next_offset = self._find_end()
        self._max_timestamp = None if self.size else -1
        self._first_timestamp = self._first_timestamp if self.size else -1

    def grow(self, most: int) -> GrowingIndex:
        """The index, with all entries in memory and files of at most `most` bytes: what `activate` wants."""
        index = self.index
        made = GrowingIndex(self.base_offset, *self._index_files(), most)
        if isinstance(index, StoredIndex):
            made.load()
        return made

    def append(self, batch: Buffer, placed: Placed, now: int) -> None:
        """Write a batch to the end of the file. DiskFailure, after which nothing of it is there."""
        size, position = len(batch), self.size
        if not placed.sealed:
            batch = bytearray(batch)
            seal(batch)
        stamp = _STAMP.pack(placed.base_offset, size - _LOG_OVERHEAD, placed.leader_epoch)
        self.log.append((stamp, memoryview(batch)[16:]))
        timestamp = placed.max_timestamp
        if not position:
            self.created, self._first_timestamp = now, timestamp
        if timestamp > self.max_timestamp:
            self._max_timestamp, self._latest_offset = timestamp, placed.last_offset
        self.size = position + size
        self._next_offset = placed.last_offset + 1
        self._modified = now
        if self._since_entry > self._interval:
            index = self._index
            assert isinstance(index, GrowingIndex)
            index.add(placed.last_offset, position, self.max_timestamp, self._latest_offset)
            self._since_entry = 0
        self._since_entry += size

    def finish(self) -> None:
        """Nothing will be appended any more: the last entry by time, and the index is looked up where it lies."""
        if isinstance(self._index, GrowingIndex):
            if self.max_timestamp >= 0:
                self._index.add_time(self.max_timestamp, self._latest_offset)
            self._index.write()
            self._index = None

    def list_aborted(self, transaction: AbortedTransaction) -> None:
        """Write it to the list of transactions whose markers are here."""
        if self._aborted is None:
            self._aborted = self._disk.open(self.path(TXN_INDEX))
        self._aborted.append([txn_index.pack(transaction)])

    # Reading

    def read(self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool) -> Slice | None:
        start = self._ends.get(offset)
        if start is None:
            start = self.find(offset)
        stop = self.size if upper_bound >= self.next_offset else self.find(upper_bound)
        if start >= stop:
            return None
        limit = min(stop, start + max_bytes, start + LARGEST_READ)
        data: Buffer = self.log.read(start, limit - start)
        if limit == self.size:
            next_offset = self.next_offset
        else:
            end, next_offset = self._cut(data, start)
            if not end:
                return self._read_one(start) if at_least_one else None
            if end < len(data):
                data = memoryview(data)[:end]
        self._note_end(next_offset, start + len(data))
        return Slice(memoryview(data), int.from_bytes(data[:8], "big"), next_offset)

    def _read_one(self, position: int) -> Slice:
        place = next(self._places(position))
        self._note_end(place.last_offset + 1, position + place.size)
        return Slice(memoryview(self.log.read(position, place.size)), place.base_offset, place.last_offset + 1)

    def _note_end(self, next_offset: int, position: int) -> None:
        if len(self._ends) >= _ENDS:
            del self._ends[next(iter(self._ends))]
        self._ends[next_offset] = position

    def _cut(self, data: Buffer, start: int) -> tuple[int, int]:
        """How much of `data`, read from the position `start`, is whole batches, and the offset that follows them."""
        at = max(0, self.index.position_before(start + len(data)) - start)
        if at and not self._is_place(start + at):
            self._mend(f"has the position {start + at}, where no batch begins")
            return self._cut(data, start)
        next_offset = -1
        for place in self._walk(start + at).through(data, at):
            if place.position + place.size > start + len(data):
                break
            at, next_offset = place.position + place.size - start, place.last_offset + 1
        if next_offset < 0 and at:
            next_offset = next(self._places(start + at)).base_offset
        return at, next_offset

    def batches(self, offset: int, min_timestamp: int) -> Iterator[memoryview]:
        position = self.find(offset)
        if min_timestamp != ANY_TIMESTAMP:
            position = max(position, self._first_reaching(min_timestamp))
        window = _WINDOW
        while position < self.size:
            start, data = position, memoryview(self.log.read(position, window))
            if not data:  # cut off by now
                return
            for place in self._walk(position).through(data):
                at = place.position - start
                if at + place.size > len(data):
                    break
                batch = data[at : at + place.size]
                position += place.size
                if min_timestamp == ANY_TIMESTAMP or read_header(batch).max_timestamp >= min_timestamp:
                    yield batch
            if position > start:
                window = min(4 * window, _WIDEST)
            else:
                window = next(self._places(position)).size

    def find(self, offset: int) -> int:
        """Where the batch lies that holds `offset`, or else the first one after it; `size` when there is none."""
        if offset >= self.next_offset:
            return self.size
        entry = self.index.before(offset)
        if entry is not None and not self._is_place(entry.position, entry.offset):
            self._mend(f"leads from offset {entry.offset} to position {entry.position}, where it is not")
            entry = self.index.before(offset)
        for place in self._places(entry.position if entry else 0):
            if place.last_offset >= offset:
                return place.position
        return self.size

    def _first_reaching(self, timestamp: int) -> int:
        """Where the batch lies from which on there may be one as late as `timestamp`."""
        index = self.index
        if isinstance(index, StoredIndex) and not self._ascends:
            if not index.ascends():
                self._mend("is not in the order of time")
                return self._first_reaching(timestamp)
            self._ascends = True
        entry = index.at(timestamp)
        if entry is None:
            return 0
        position = self.find(entry.offset)
        if position < self.size and self._timestamp(position) == entry.timestamp:
            return position
        self._mend(f"has the timestamp {entry.timestamp} for offset {entry.offset}, which has another")
        entry = self.index.at(timestamp)
        return self.find(entry.offset) if entry else 0

    def _find_end(self) -> int:
        """One past the last offset."""
        position = self.index.position_before(self.size)
        if position and not self._is_place(position):
            self._mend(f"has the position {position}, where no batch begins")
            position = self.index.position_before(self.size)
        found = self.base_offset
        for place in self._places(position):
            found = place.last_offset + 1
        return found

    def _find_latest(self) -> tuple[int, int]:
        """The largest timestamp, and the last offset of the first batch that has it."""
        entry = self.index.latest
        position = self.find(entry.offset) if entry else 0
        if entry and (position >= self.size or self._timestamp(position) != entry.timestamp):
            self._mend(f"ends with the timestamp {entry.timestamp} for offset {entry.offset}, which has another")
            entry = self.index.latest
            position = self.find(entry.offset) if entry else 0
        latest, offset = -1, self.base_offset
        for place in self._places(position):
            timestamp = self._timestamp(place.position)
            if timestamp > latest:
                latest, offset = timestamp, place.last_offset
        return latest, offset

    def _timestamp(self, position: int) -> int:
        """The largest timestamp of the batch there."""
        return read_header(self.log.read(position, HEADER_SIZE), partial=True).max_timestamp

    def _is_place(self, position: int, offset: int | None = None) -> bool:
        """Whether a batch begins there, that holds no offset but from `offset` on backwards."""
        try:
            place = next(self._places(position), None)
        except BadFile:
            return False
        return place is not None and (offset is None or place.base_offset <= offset)

    def _walk(self, position: int) -> Walk:
        return Walk(self.path(LOG), position, self.size, self.base_offset, self._limit)

    def _places(self, position: int) -> Iterator[Place]:
        """Every batch from there on, by reading headers."""
        return self._walk(position).over(self.log)

    # Changing what is there

    def _mend(self, why: str) -> None:
        """Make the indexes anew from the batches, up to the first that is none."""
        _LOGGER.warning("the index of %s %s: it is made anew", self.path(LOG), why)
        growing = isinstance(self._index, GrowingIndex)
        most = self._index.most if isinstance(self._index, GrowingIndex) else 2**31 - 1
        made = GrowingIndex(self.base_offset, *self._index_files(), most)
        made.clear()
        latest, latest_offset, since = -1, self.base_offset, 0
        try:
            for place in self._places(0):
                timestamp = self._timestamp(place.position)
                if timestamp > latest:
                    latest, latest_offset = timestamp, place.last_offset
                if since > self._interval:
                    made.add(place.last_offset, place.position, latest, latest_offset)
                    since = 0
                since += place.size
        except BadFile as problem:
            _LOGGER.warning("%s", problem)
        if not growing and latest >= 0:
            made.add_time(latest, latest_offset)
        made.write()
        self._index = made if growing else StoredIndex(self.base_offset, *self._index_files())

    def truncate(self, offset: int, most: int) -> None:
        """Drop every batch that reaches `offset` or beyond, and be appended to."""
        position = self.find(offset)
        index = self.grow(most) if not isinstance(self._index, GrowingIndex) else self._index
        self.log.truncate(position)
        self.size = position
        index.cut(offset)
        self._cut_aborted(offset)
        self.activate(index)

    def _cut_aborted(self, offset: int) -> None:
        """Forget the aborted transactions whose markers are at `offset` or beyond."""
        if self._aborted is None and not self._disk.exists(self.path(TXN_INDEX)):
            return
        file = self._aborted = self._aborted or self._disk.open(self.path(TXN_INDEX))
        listed = txn_index.read(file.read(0, file.size), self.base_offset, self.path(TXN_INDEX))
        file.truncate(sum(1 for each in listed if each.last_offset < offset) * txn_index.SIZE)

    @property
    def overhead(self) -> int:
        """Bytes that its index takes in memory."""
        return self._index.overhead if isinstance(self._index, GrowingIndex) else 0

    def files(self) -> list[File]:
        """Those that may have something to flush."""
        opened = [self.log]
        if isinstance(self._index, GrowingIndex):
            self._index.write()
        opened += self._index_files() if self._disk.exists(self.path(INDEX)) else ()
        return [*opened, self._aborted] if self._aborted else opened

    def put_aside(self) -> list[str]:
        """Mark its files as deleted; gives their paths. What is being read from it can still be read."""
        gone = []
        for kind in KINDS[:4]:
            path = self.path(kind)
            if kind == LOG:
                self.log.rename(path + DELETED)
            elif self._disk.exists(path):
                self._disk.rename(path, path + DELETED)
            else:
                continue
            gone.append(path + DELETED)
        return gone

    def close(self) -> None:
        """Give back what open files cost."""
        self.log.close()

    def __repr__(self) -> str:
        return f"FileSegment from {self.base_offset} to {self.next_offset}, {self.size} bytes"
