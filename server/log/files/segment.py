"""One segment in files: a `.log`, its indexes, and the list of the transactions that were aborted
in it.

Rules. Batches are written as they come, with their offset and epoch; a read gives copies. A segment
that was found on the disk is read only when something of it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct

from kafkadouble.wire.batch import BatchHeader, read_header, seal
from kafkadouble.wire.checksum import Buffer

from ..formats import txn_index
from ..formats.errors import BadFile
from ..formats.names import DELETED, INDEX, LOG, TIME_INDEX, TXN_INDEX
from ..storage import ANY_TIMESTAMP, Loan, LogAppendInfo, Slice
from ..transactions import AbortedTransaction
from .disk import WORTH_IT, Disk, File
from .indexed import UNBOUNDED, IndexedLog
from .indexes import GrowingIndex, StoredIndex

# Base offset, length, leader epoch: the first bytes of a batch, outside of its checksum.
_STAMP = Struct(">qii")
# The offset and the length field, which the length does not count.
_LOG_OVERHEAD = 12

LARGEST_READ = 4 << 20
"""A read gives at most so many bytes (unless one batch is larger), as in memory, whatever the
caller would accept."""

_WINDOW, _WIDEST = 8 << 10, 256 << 10
"""Bytes of one read when batches are walked: of the first read, and at most."""

_COPIED = 16 << 10
"""Up to this size in bytes, copying a batch after its first fields is faster than writing two
buffers."""

_UNKNOWN = -2
"""The value of a timestamp that was not determined yet."""

_ENDS = 16
"""The end positions of so many readers are remembered: a reader that continues there needs no
index."""

_KINDS = (LOG, INDEX, TIME_INDEX, TXN_INDEX)


class FileSegment(IndexedLog):
    """One segment; `storage.LogSegment` describes the attributes."""

    __slots__ = (
        "_aborted",
        "_ends",
        "_first_timestamp",
        "_latest_offset",
        "_max_timestamp",
        "_modified",
        "_next_offset",
        "_since_entry",
        "created",
    )

    def __init__(
        self, disk: Disk, folder: str, base_offset: int, limit: int = UNBOUNDED, interval: int = 4096, mark: str = ""
    ) -> None:
        super().__init__(disk, folder, base_offset, limit, interval, mark)
        self.created = 0
        self._aborted: File | None = None
        self._since_entry = 0
        # these are None until they are needed
        self._next_offset: int | None = None if self.size else base_offset
        self._first_timestamp: int | None = None if self.size else -1
        self._max_timestamp = _UNKNOWN if self.size else -1  # always known for the active segment
        self._latest_offset = base_offset  # the last one of the batch with the largest timestamp
        self._modified: int | None = None if self.size else 0
        self._ends: dict[int, int] = {}  # the next offset after a read -> its position

    @property
    def next_offset(self) -> int:
        if self._next_offset is None:
            try:
                self._next_offset = self._find_end()
            except BadFile:  # a read of this part raises it
                self._next_offset = self.limit
        return self._next_offset

    @property
    def first_timestamp(self) -> int:
        if self._first_timestamp is None:
            try:
                self._first_timestamp = self._timestamp(0)
            except BadFile:  # the age of the file counts instead
                self._first_timestamp = -1
        return self._first_timestamp

    @property
    def max_timestamp(self) -> int:
        if self._max_timestamp == _UNKNOWN:
            try:
                self._max_timestamp, self._latest_offset = self._find_latest()
            except BadFile:  # not too early, or retention would delete it
                self._max_timestamp = self.modified
        return self._max_timestamp

    @property
    def modified(self) -> int:
        if self._modified is None:
            self._modified = self._disk.modified(self.path(LOG))
        return self._modified

    def check_end(self) -> None:
        """BadFile unless the segment ends with a batch, below its limit."""
        if self._next_offset is None:
            self._next_offset = self._find_end()

    def begin(self, most: int, modified: int = 0) -> None:
        """Becomes the active segment, as a new one. Indexes of an old segment of this name may be
        left."""
        self._disk.remove(self.path(TXN_INDEX))
        self.limit, self._modified = UNBOUNDED, modified
        index = GrowingIndex(self.base_offset, *self._index_files(), most)
        index.clear()
        self._activate(index)

    def resume(self, most: int) -> None:
        """Becomes the active segment again."""
        self.limit, self.durable, self._since_entry = UNBOUNDED, False, 0
        if isinstance(self.index, StoredIndex):
            index = GrowingIndex(self.base_offset, *self._index_files(), most)
            try:
                index.load(self.size)
            except BadFile as problem:
                self._mend(str(problem))
                # Of the files with their new sizes.
                index = GrowingIndex(self.base_offset, *self._index_files(), most)
                index.load(self.size)
            self._activate(index)

    def _activate(self, index: GrowingIndex) -> None:
        self._index = index
        self._ends.clear()
        self._next_offset = self._find_end()
        self._since_entry = 0  # as in Kafka
        self._max_timestamp, self._latest_offset = self._find_latest() if self.size else (-1, self.base_offset)
        self._first_timestamp = self._first_timestamp if self.size else -1
        self.full = index.full

    def append(self, batch: Buffer, info: LogAppendInfo, now: int) -> None:
        """Appends a batch to the file. After DiskFailure nothing of it is there."""
        base, last, epoch, timestamp, sealed = info
        size, position = len(batch), self.size
        if not sealed:
            batch = bytearray(batch)
            seal(batch)
        stamp = _STAMP.pack(base, size - _LOG_OVERHEAD, epoch)
        if size < _COPIED:
            self.log.append((stamp + batch[16:],))
        else:
            self.log.append((stamp, memoryview(batch)[16:]))
        if not position:
            self.created = now
        self._modified = now
        self._grew(position, size, last, timestamp)

    def _grew(self, position: int, size: int, last_offset: int, timestamp: int) -> None:
        """Counts one more batch."""
        if not position:
            self._first_timestamp = timestamp
        if timestamp > self._max_timestamp:
            self._max_timestamp, self._latest_offset = timestamp, last_offset
        self.size = position + size
        self._next_offset = last_offset + 1
        since = self._since_entry
        if since > self._interval:
            index = self._index
            assert isinstance(index, GrowingIndex)
            index.add(last_offset, position, self._max_timestamp, self._latest_offset)
            self.full = index.full
            since = 0
        self._since_entry = since + size

    def begin_recovery(self, most: int) -> None:
        """Forgets everything but the batches. `recovered` is called for each good one."""
        index = GrowingIndex(self.base_offset, *self._index_files(), most)
        index.clear()
        self._index, self.durable = index, False
        self._ends.clear()
        self.size = self._since_entry = 0
        self._next_offset = self._latest_offset = self.base_offset
        self._first_timestamp = self._max_timestamp = -1

    def recovered(self, position: int, header: BatchHeader) -> None:
        """Counts the next batch, which is good."""
        self._grew(position, header.size, header.last_offset, header.max_timestamp)

    def cut(self) -> None:
        """Truncates the file after the recovered batches, and flushes it."""
        self.log.truncate(self.size)
        self.log.flush()

    def finish(self) -> None:
        """Closes the segment for appends: cuts off what was preallocated, and writes the last entry
        of the time index. Lookups read the index files from now on."""
        self.log.trim()
        if isinstance(self._index, GrowingIndex):
            self._index.add_time(self.max_timestamp, self._latest_offset)
            self._index.close()
            self._index = None

    def list_aborted(self, transaction: AbortedTransaction) -> None:
        """Lists a transaction whose marker is in this segment."""
        self._opened_list().append([txn_index.pack(transaction)])

    def _opened_list(self) -> File:
        self._aborted = self._aborted or self._disk.open(self.path(TXN_INDEX))
        return self._aborted

    def aborted(self) -> list[AbortedTransaction]:
        """The transactions that were aborted by markers in it. BadFile."""
        path = self.path(TXN_INDEX)
        if self._aborted is None and not self._disk.exists(path):
            return []
        return txn_index.read(self._disk.read_whole(path), self.base_offset, path)

    def rewrite_aborted(self, transactions: Sequence[AbortedTransaction]) -> None:
        """Replaces the list by these transactions."""
        if transactions or self._disk.exists(self.path(TXN_INDEX)):
            self.durable = False
            self._opened_list().truncate(0)
            for transaction in transactions:
                self.list_aborted(transaction)

    def read(
        self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool, sealed: bool = True
    ) -> Slice | None:
        start, limit = self._span(offset, max_bytes, upper_bound)
        return None if limit < 0 else self._read(start, limit, at_least_one)

    def lend(self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool) -> Loan | None:
        start, limit = self._span(offset, max_bytes, upper_bound)
        if limit - start < WORTH_IT:
            return None if limit < 0 else Loan.of(self._read(start, limit, at_least_one))
        end, next_offset = self._whole(start, limit)
        if end == start:
            return Loan.of(self._read_one(start)) if at_least_one else None
        self._note_end(next_offset, end)
        return Loan(self.log.slice(start, end - start), next_offset)

    def _span(self, offset: int, max_bytes: int, upper_bound: int) -> tuple[int, int]:
        """The start of a read, and its end; -1 as the end when there is nothing to read."""
        start = self._ends.get(offset)
        if start is None:
            start = self.find(offset)
        stop = self.size if upper_bound >= self.next_offset else self.find(upper_bound)
        return start, -1 if start >= stop else min(stop, start + max_bytes, start + LARGEST_READ)

    def _read(self, start: int, limit: int, at_least_one: bool) -> Slice | None:
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
        place = next(self.batch_positions(position))
        self._note_end(place.last_offset + 1, position + place.size)
        return Slice(memoryview(self.log.read(position, place.size)), place.base_offset, place.last_offset + 1)

    def _note_end(self, next_offset: int, position: int) -> None:
        if len(self._ends) >= _ENDS:
            del self._ends[next(iter(self._ends))]
        self._ends[next_offset] = position

    def _whole(self, start: int, limit: int) -> tuple[int, int]:
        """The end of the last batch that lies wholly before `limit`, and the offset after it;
        `start` if there is none."""
        if limit == self.size:
            return limit, self.next_offset
        end, next_offset = max(start, self._position_before(limit)), -1
        for place in self.batch_positions(end):
            if place.position + place.size > limit:
                return end, place.base_offset if next_offset < 0 else next_offset
            end, next_offset = place.position + place.size, place.last_offset + 1
        return end, next_offset

    def _cut(self, data: Buffer, start: int) -> tuple[int, int]:
        """How many bytes of `data`, read at `start`, are whole batches, and the offset after
        them."""
        at = max(0, self._position_before(start + len(data)) - start)
        next_offset = -1
        try:
            for place in self._walk(start + at).through(data, at):
                if place.position + place.size > start + len(data):
                    break
                at, next_offset = place.position + place.size - start, place.last_offset + 1
        except BadFile:
            if next_offset < 0:
                raise
        if next_offset < 0 and at:
            next_offset = next(self.batch_positions(start + at)).base_offset
        return at, next_offset

    def batches(self, offset: int, min_timestamp: int) -> Iterator[memoryview]:
        position = self.find(offset)
        if min_timestamp != ANY_TIMESTAMP:
            position = max(position, self.first_reaching(min_timestamp))
        window = _WINDOW
        while position < self.size:
            start, data = position, memoryview(self.log.read(position, window))
            if not data:  # truncated in the meantime
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
                window = next(self.batch_positions(position)).size

    def find(self, offset: int) -> int:
        return self.size if offset >= self.next_offset else super().find(offset)

    def truncate(self, offset: int, most: int) -> None:
        """Deletes every batch that reaches `offset` or beyond, flushes that, and becomes the active
        segment."""
        position = self.find(offset)
        self.resume(most)
        index = self._index
        assert isinstance(index, GrowingIndex)
        try:
            listed = self.aborted()
        except BadFile:  # the next start rebuilds the list
            listed = []
        if listed:
            kept = sum(1 for each in listed if each.last_offset < offset)
            self._opened_list().truncate(kept * txn_index.SIZE)
        index.cut(offset)
        self.size = position
        self.cut()
        self._activate(index)

    def files(self) -> list[File]:
        """The files to be flushed. Of the active segment only the batches: the rest is rebuilt from
        them."""
        if isinstance(self._index, GrowingIndex):
            return [self.log]
        aborted = [self._opened_list()] if self._aborted or self._disk.exists(self.path(TXN_INDEX)) else []
        return [self.log, *self._index_files(), *aborted]

    def move(self, mark: str, kinds: Sequence[str] = _KINDS) -> list[str]:
        """Renames its files so that they end with `mark`, and returns their paths. Reads that have
        begun can finish."""
        self._let_go()
        before, self._mark = [(kind, self.path(kind)) for kind in kinds], mark
        moved = []
        for kind, path in before:
            if kind == LOG:
                self.log.rename(self.path(kind))
            elif self._disk.exists(path):
                self._disk.rename(path, self.path(kind))
            else:
                continue
            moved.append(self.path(kind))
        return moved

    def put_aside(self) -> list[str]:
        """Marks its files as deleted, and returns their paths. The `.log` is last: indexes without
        it are useless, but a `.log` without indexes is a whole segment."""
        return self.move(DELETED, _KINDS[::-1])

    def _let_go(self) -> None:
        if self._aborted is not None:
            self._aborted.close()
            self._aborted = None
        if self._index is not None:
            self._index.close()
        if not isinstance(self._index, GrowingIndex):
            self._index = None

    def close(self) -> None:
        """Closes the open files."""
        self._let_go()
        self.log.close()

    def __repr__(self) -> str:
        return f"FileSegment from {self.base_offset} to {self.next_offset}, {self.size} bytes"
