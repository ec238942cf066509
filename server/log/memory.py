"""The storage of a log in memory: segments made of chunks.

A chunk is as large as all chunks before it, from 4 KiB to 4 MiB. So a small log takes at most about
twice what was written to it, and a large log hardly more. A follower in the same process keeps the
batches in the memory of its leader's chunk (`memory_shared`). The rules are those of `storage`;
nothing outlives the process.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from kafkadouble.wire.batch import read_header
from kafkadouble.wire.checksum import Buffer

from .config import LogConfig
from .memory_chunk import MemoryChunk
from .memory_shared import SharedChunk, chunk_around, may_be_shared
from .offset_and_epoch import OffsetAndEpoch
from .producers import ProducerStateEntry
from .storage import INDEX_INTERVAL, Loan, LogAppendInfo, LogSegment, Slice
from .transactions import AbortedTransaction

SMALLEST_CHUNK = 4 << 10
LARGEST_CHUNK = 4 << 20

JOINED = 256 << 10
"""A read that reaches the end of a chunk with fewer bytes than this copies more from the next
chunk, so that clients do not see where small chunks end. With more bytes it stops there, and copies
nothing."""

_next_offset = attrgetter("next_offset")
_base_offset = attrgetter("base_offset")


class MemorySegment:
    """One segment; `storage.LogSegment` describes the attributes."""

    __slots__ = (
        "_entries",
        "_released",
        "_released_latest",
        "_released_timestamp",
        "_released_to",
        "_since_entry",
        "base_offset",
        "chunks",
        "created",
        "first_timestamp",
        "interval",
        "max_timestamp",
        "modified",
        "next_offset",
        "size",
    )

    full = False  # its index grows as it must

    def __init__(self, base_offset: int, interval: int = INDEX_INTERVAL) -> None:
        self.base_offset = self.next_offset = base_offset
        self.interval = interval  # `index.interval.bytes`
        # The offsets of Kafka's index, which bound the aborted transactions of a fetch; chunks have
        # indexes of their own to find batches.
        self._entries = array("q")
        self._since_entry = 0
        self.created = self.modified = 0
        self.size = 0
        self.first_timestamp = self.max_timestamp = -1
        # In offset order; the released chunks, at the front, are missing.
        self.chunks: list[MemoryChunk] = []
        # Bytes of the released chunks, which still count in `size`.
        self._released = 0
        self._released_to = base_offset  # the offset that follows them
        # Their largest timestamp, which still counts in `max_timestamp`.
        self._released_timestamp = -1
        self._released_latest: bytes | None = None  # the first batch that has it

    def append(self, batch: Buffer, info: LogAppendInfo, now: int) -> bool:
        """Copies a batch to the end of the last chunk; False when it has no room."""
        if not self.chunks or not self.chunks[-1].append(batch, info):
            return False
        self._grow(len(batch), info, now)
        return True

    def share(self, batch: memoryview, info: LogAppendInfo, now: int) -> bool:
        """Appends a batch that may be shared, without a copy; False when it cannot be shared."""
        last = self.chunks[-1] if self.chunks else None
        if not (isinstance(last, SharedChunk) and last.go_on_with(batch, info)):
            chunk = chunk_around(batch, info)
            if chunk is None:
                return False
            self.chunks.append(chunk)
        self._grow(len(batch), info, now)
        return True

    def _grow(self, size: int, info: LogAppendInfo, now: int) -> None:
        if not self.size:
            self.created, self.first_timestamp = now, info.max_timestamp
        if info.max_timestamp > self.max_timestamp:
            self.max_timestamp = info.max_timestamp
        since = self._since_entry
        if since > self.interval:
            self._entries.append(info.last_offset)
            since = 0
        self._since_entry = since + size
        self.size += size
        self.next_offset = info.last_offset + 1
        self.modified = now

    def read(
        self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool, sealed: bool = True
    ) -> Slice | None:
        pieces: list[Slice] = []
        size = 0
        for chunk in self._chunks_from(offset):
            found = chunk.read(offset, max_bytes - size, upper_bound, at_least_one and not pieces, sealed)
            if found is None:
                break
            pieces.append(found)
            size += len(found.records)
            if size >= JOINED or found.next_offset < chunk.next_offset or chunk.next_offset >= upper_bound:
                break
        if len(pieces) < 2:
            return pieces[0] if pieces else None
        return Slice(b"".join(piece.records for piece in pieces), pieces[0].offset, pieces[-1].next_offset)

    def lend(self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool) -> Loan | None:
        return Loan.of(self.read(offset, max_bytes, upper_bound, at_least_one))

    def entry_from(self, offset: int) -> int | None:
        number = bisect_left(self._entries, offset)
        return self._entries[number] if number < len(self._entries) else None

    def batches(self, offset: int, min_timestamp: int) -> Iterator[memoryview]:
        for chunk in self._chunks_from(offset):
            if chunk.max_timestamp >= min_timestamp:
                yield from chunk.batches(offset, min_timestamp)

    def latest_batch(self) -> Buffer | None:
        if self.max_timestamp < 0:
            return None
        if self.max_timestamp == self._released_timestamp:
            return self._released_latest
        return _latest_batch(self.chunks, self.max_timestamp)

    def truncate(self, offset: int) -> None:
        """Deletes every batch that reaches `offset` or beyond."""
        while self.chunks and self.chunks[-1].base_offset >= offset:
            self.chunks.pop()
        if self.chunks:
            self.chunks[-1].cut(offset)
            if not self.chunks[-1].size:
                self.chunks.pop()
        self.size = self._released + sum(chunk.size for chunk in self.chunks)
        self.next_offset = self.chunks[-1].next_offset if self.chunks else self._released_to
        self.max_timestamp = max(self._released_timestamp, *(chunk.max_timestamp for chunk in self.chunks), -1)
        if not self.size:
            self.first_timestamp = -1
        del self._entries[bisect_left(self._entries, offset) :]
        self._since_entry = 0  # as in Kafka

    def release(self, offset: int) -> None:
        """Frees the chunks that lie wholly below `offset`, except the last one."""
        freed = min(bisect_right(self.chunks, offset, key=_next_offset), len(self.chunks) - 1)
        if freed > 0:
            for chunk in self.chunks[:freed]:
                if chunk.max_timestamp > self._released_timestamp:
                    self._released_latest = bytes(_latest_batch([chunk], chunk.max_timestamp) or b"")
                self._released += chunk.size
                self._released_to = chunk.next_offset
                self._released_timestamp = max(self._released_timestamp, chunk.max_timestamp)
            del self.chunks[:freed]

    def copy(self) -> MemorySegment:
        """The same batches, in the same memory; neither of the two has what is appended to the
        other."""
        made = MemorySegment(self.base_offset, self.interval)
        for name in MemorySegment.__slots__:
            setattr(made, name, getattr(self, name))
        made.chunks, made._entries = [chunk.copy() for chunk in self.chunks], self._entries[:]
        return made

    @property
    def overhead(self) -> int:
        """The memory that its indexes take, in bytes."""
        own = self._entries.buffer_info()[1] * self._entries.itemsize
        return own + sum(chunk.overhead for chunk in self.chunks)

    def _chunks_from(self, offset: int) -> Iterator[MemoryChunk]:
        """The chunks that may hold records at or after `offset`."""
        chunks = self.chunks
        if chunks and offset >= chunks[-1].base_offset:
            yield chunks[-1]
        else:
            yield from chunks[bisect_right(chunks, offset, key=_next_offset) :]

    def __repr__(self) -> str:
        return f"MemorySegment from {self.base_offset} to {self.next_offset}, {self.size} bytes in {len(self.chunks)} chunks"


def _latest_batch(chunks: Sequence[MemoryChunk], timestamp: int) -> memoryview | None:
    """The first batch of the chunks whose largest timestamp is no smaller."""
    return next((batch for chunk in chunks for batch in chunk.batches(chunk.base_offset, timestamp)), None)


class MemorySegmentRewriter:
    """Writes a segment that replaces others; see `storage.SegmentRewriter`."""

    __slots__ = ("_new", "_old", "_storage")

    def __init__(self, storage: MemoryStorage, old: Sequence[MemorySegment], interval: int) -> None:
        self._storage, self._old = storage, old
        self._new = MemorySegment(old[0].base_offset, interval)

    def append(self, batch: Buffer) -> None:
        header = read_header(batch)
        info = LogAppendInfo(
            header.base_offset, header.last_offset, header.partition_leader_epoch, header.max_timestamp
        )
        if not self._new.append(batch, info, self._old[-1].modified):
            self._new.chunks.append(MemoryChunk(info.base_offset, max(self._capacity(), len(batch))))
            self._new.append(batch, info, self._old[-1].modified)

    def _capacity(self) -> int:
        return min(max(SMALLEST_CHUNK, self._new.size), LARGEST_CHUNK)

    def finish(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._new.modified = self._old[-1].modified
        self._storage.replace(self._old, self._new)

    def drop(self) -> None: ...


class MemoryStorage:
    """All segments of one log, in memory."""

    __slots__ = ("_capacity", "_snapshots", "segments")

    recovery_point = 2**63 - 1  # there is nothing to flush

    def __init__(self, base_offset: int = 0, interval: int = INDEX_INTERVAL) -> None:
        # Oldest first, never empty; only the last one grows.
        self.segments = [MemorySegment(base_offset, interval)]
        self._capacity = SMALLEST_CHUNK  # of the next chunk
        self._snapshots: dict[int, bytes] = {}  # producer snapshots, as in their files, by offset

    def append(self, batch: Buffer, info: LogAppendInfo, now: int) -> None:
        active = self.segments[-1]
        if may_be_shared(batch, info) and active.share(batch, info, now):
            return
        if not active.append(batch, info, now):
            capacity = max(self._capacity, len(batch))
            self._capacity = min(2 * self._capacity, LARGEST_CHUNK)
            active.chunks.append(MemoryChunk(info.base_offset, capacity))
            active.append(batch, info, now)

    def roll(self, base_offset: int, config: LogConfig) -> None:
        self.segments.append(MemorySegment(base_offset, config.index_interval_bytes))

    def drop_oldest(self, count: int) -> None:
        count = min(count, len(self.segments) - 1)
        for segment in self.segments[:count]:
            self._snapshots.pop(segment.base_offset, None)
        del self.segments[:count]

    def truncate(self, offset: int) -> None:
        keep = max(1, bisect_right(self.segments, offset, key=_base_offset))
        del self.segments[keep:]
        self.segments[-1].truncate(offset)
        self._snapshots = {at: snapshot for at, snapshot in self._snapshots.items() if at <= offset}

    def restart(self, offset: int) -> None:
        self.segments[:] = [MemorySegment(offset, self.segments[-1].interval)]
        self._capacity = SMALLEST_CHUNK
        self._snapshots.clear()

    def release(self, offset: int) -> None:
        for segment in self.segments:
            if segment.base_offset >= offset:
                return
            segment.release(offset)

    def write_leader_epochs(self, entries: Sequence[OffsetAndEpoch], *, flush: bool = False) -> None:
        """Does nothing: the epochs do not outlive the process, as the log does not."""

    def take_producer_snapshot(self, offset: int, producers: Iterable[ProducerStateEntry]) -> None:
        if offset not in self._snapshots and offset != self.segments[0].base_offset:
            from .formats import producer_snapshot

            self._snapshots[offset] = producer_snapshot.write(map(producer_snapshot.entry_of, producers))

    def list_aborted(self, transaction: AbortedTransaction) -> None: ...

    def latest_producer_snapshot(self, offset: int) -> tuple[int, list[ProducerStateEntry]] | None:
        newest = max((at for at in self._snapshots if at <= offset), default=None)
        if newest is None:
            return None
        from .formats import producer_snapshot

        return newest, [producer_snapshot.producer_of(each) for each in producer_snapshot.read(self._snapshots[newest])]

    def unflushed(self) -> None: ...

    def flushed(self, offset: int) -> None: ...

    def tick(self, now: int, config: LogConfig) -> None: ...

    def rename_folder(self, folder: str) -> None: ...

    def close(self, *, flush: bool = True) -> None: ...

    def rewrite(self, segments: Sequence[LogSegment], config: LogConfig) -> MemorySegmentRewriter:
        first = bisect_left(self.segments, segments[0].base_offset, key=_base_offset)
        replaced = self.segments[first : first + len(segments)]
        return MemorySegmentRewriter(self, replaced, config.index_interval_bytes)

    def replace(self, replaced: Sequence[MemorySegment], made: MemorySegment) -> None:
        """Replaces segments by one that is finished."""
        first = self.segments.index(replaced[0])
        self.segments[first : first + len(replaced)] = [made]
        for segment in replaced[1:]:
            self._snapshots.pop(segment.base_offset, None)

    def copy(self) -> MemoryStorage:
        """The same batches, in the same memory; neither of the two has what is appended to the
        other."""
        made = MemoryStorage()
        made.segments = [segment.copy() for segment in self.segments]
        made._capacity, made._snapshots = self._capacity, dict(self._snapshots)
        return made

    @property
    def overhead(self) -> int:
        """The memory that its indexes take, in bytes."""
        return sum(segment.overhead for segment in self.segments)

    def __repr__(self) -> str:
        size = sum(segment.size for segment in self.segments)
        return f"{-(-size // 1024)} KB in {sum(len(segment.chunks) for segment in self.segments)} chunks"
