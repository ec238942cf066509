"""The storage of a log's batches. Memory and files (Kafka's own formats) implement this interface.

A storage has one or more segments, oldest first. A segment holds whole batches in offset order and
is known by its base offset; only the last segment, the active one, is appended to. Segments end
where Kafka would end them, because retention deletes whole segments, and so decides the log start
offset that clients see. Inside a segment a sparse index (offset and largest timestamp so far ->
position) finds a batch. How the bytes are laid out is up to the storage: memory uses chunks, files
use a `.log` with its `.index` and `.timeindex`.

Rules for every storage. A batch is copied once, and its base offset and leader epoch are written
into the copy; a batch that already has them, in memory that never changes, may stay where it is.
After that its bytes never change, so a slice that was read stays good through appends, truncation
and deletion. A read gives whole batches, and may stop early: at the end of a segment, as Kafka
does, or at the end of a large chunk of memory. Offsets need not be dense: truncation inside a batch
and compaction leave gaps. A storage knows no producers, no high watermark and no topic configs
beyond those it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from .config import LogConfig
from .offset_and_epoch import OffsetAndEpoch
from .producers import ProducerStateEntry
from .transactions import AbortedTransaction

INDEX_INTERVAL = 4096
"""Bytes of batches between two entries of a sparse index; the default of `index.interval.bytes`."""

ANY_TIMESTAMP = -(2**63)
"""A lower bound that every timestamp satisfies, also -1 for none."""


class Slice(NamedTuple):
    """Whole batches, one after the other. `offset` is the base offset of the first batch; the next
    read begins at `next_offset`."""

    records: memoryview | bytes
    offset: int
    next_offset: int


class Loan(NamedTuple):
    """Whole batches that are only sent on: their bytes may still be in the file. `next_offset` as
    in a Slice."""

    records: Buffer | FileSlice
    next_offset: int

    @classmethod
    def of(cls, found: Slice | None) -> Loan | None:
        return None if found is None else cls(found.records, found.next_offset)


class LogAppendInfo(NamedTuple):
    """The facts about a batch that a storage needs (Kafka's LogAppendInfo). `sealed` is False for a
    batch of this node that still lacks its checksum: the storage computes it before any reader can
    check it."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    max_timestamp: int
    sealed: bool = True


class LogSegment(Protocol):
    """One segment. The storage keeps the attributes up to date; others only read them."""

    @property
    def base_offset(self) -> int:
        """The offset that it begins at: none of its records has a smaller one, and no record before
        it a larger."""
        ...

    @property
    def next_offset(self) -> int:
        """One past its last record; `base_offset` while it is empty."""
        ...

    @property
    def size(self) -> int:
        """Size in bytes of all batches that were appended and not truncated."""
        ...

    @property
    def created(self) -> int:
        """When it was first appended to (ms)."""
        ...

    @property
    def modified(self) -> int:
        """When it was last appended to (ms)."""
        ...

    @property
    def first_timestamp(self) -> int:
        """The largest timestamp of its first batch (ms), -1 while it is empty. `segment.ms` counts
        from it."""
        ...

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp of all its batches (ms); -1 when none has one."""
        ...

    def latest_batch(self) -> Buffer | None:
        """The first batch that has the largest timestamp, though no reader may read it any more;
        None when no batch has a timestamp."""
        ...

    @property
    def full(self) -> bool:
        """Whether its index has no room for another entry."""
        ...

    def read(
        self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool, sealed: bool = True
    ) -> Slice | None:
        """Reads batches, beginning with the one that holds `offset` (or the first after it), that
        lie wholly below `upper_bound`: up to `max_bytes`, or one larger batch with `at_least_one`.
        None when there is none. Without `sealed`, batches that this node made may still lack their
        checksum."""
        ...

    def lend(self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool) -> Loan | None:
        """Reads as `read` does, for a caller that only sends the bytes on."""
        ...

    def entry_from(self, offset: int) -> int | None:
        """The offset of the first entry of Kafka's offset index that is not below `offset`; None
        when there is none. An entry is the last offset of a batch with more than
        `index.interval.bytes` between it and the entry before, or the start of the segment."""
        ...

    def batches(self, offset: int, min_timestamp: int) -> Iterator[memoryview]:
        """Yields the batches, beginning with the one that holds `offset`, that have a record no
        older than `min_timestamp`."""
        ...


class SegmentRewriter(Protocol):
    """Writes one segment that replaces others, as compaction does. No reader sees it before it is
    finished."""

    def append(self, batch: Buffer) -> None:
        """Appends a batch in its final form: with offsets, epoch and checksum, in offset order."""
        ...

    def finish(self, aborted: Sequence[AbortedTransaction]) -> None:
        """Replaces the old segments by this one, which lists these aborted transactions. It is
        flushed."""
        ...

    def drop(self) -> None:
        """Leaves everything as it was. Does nothing after `finish`."""
        ...


class Storage(Protocol):
    """All segments of one log. Its `repr` says how much it holds, and where."""

    @property
    def segments(self) -> Sequence[LogSegment]: ...

    def append(self, batch: Buffer, info: LogAppendInfo, now: int) -> None:
        """Appends one batch to the active segment."""
        ...

    def roll(self, base_offset: int, config: LogConfig) -> None:
        """Begins a new active segment, for which these configs hold."""
        ...

    def drop_oldest(self, count: int) -> None:
        """Deletes that many of the oldest segments, but never the active one."""
        ...

    def truncate(self, offset: int) -> None:
        """Deletes every batch that reaches `offset` or beyond. The first segment begins at or below
        it."""
        ...

    def restart(self, offset: int) -> None:
        """Deletes everything, and begins an empty segment at `offset`."""
        ...

    def release(self, offset: int) -> None:
        """No reader will read below `offset` again. Memory may be freed, but the segments stay and
        keep their size."""
        ...

    def rewrite(self, segments: Sequence[LogSegment], config: LogConfig) -> SegmentRewriter:
        """Begins one segment that will replace these, which are closed and follow one another."""
        ...

    def write_leader_epochs(self, entries: Sequence[OffsetAndEpoch], *, flush: bool = False) -> None:
        """Writes where each leader epoch begins. The file outlives the process; with `flush`, the
        machine too. Without `flush` it is flushed together with the batches: after a loss of power,
        stale entries lie beyond the end of the log, and the next start drops them."""
        ...

    def take_producer_snapshot(self, offset: int, producers: Iterable[ProducerStateEntry]) -> None:
        """Writes a snapshot of the producers at `offset`, so that a later start reads only the
        batches from there on."""
        ...

    def list_aborted(self, transaction: AbortedTransaction) -> None:
        """Lists this transaction as aborted. Its marker was appended last."""
        ...

    def latest_producer_snapshot(self, offset: int) -> tuple[int, list[ProducerStateEntry]] | None:
        """The newest producer snapshot at or before `offset`, and its offset; None when every batch
        has to be read."""
        ...

    @property
    def recovery_point(self) -> int:
        """Everything below it is flushed; 0 when nothing is."""
        ...

    def unflushed(self) -> Flush | None:
        """The flush that makes everything that was written up to now outlive the machine; None when
        no flush is due."""
        ...

    def flushed(self, offset: int) -> None:
        """The flush up to `offset` was done."""
        ...

    def tick(self, now: int, config: LogConfig) -> None:
        """Removes the files that were deleted `file.delete.delay.ms` ago."""
        ...

    def rename_folder(self, folder: str) -> None:
        """Renames the folder of its files; the log stays open. Memory has no folder. No flush of it
        may be under way, except for a log that is to be deleted."""
        ...

    def close(self, *, flush: bool = True) -> None:
        """Flushes everything, unless the log is to be deleted. Nothing is appended or read
        afterwards."""
        ...


class Flush:
    """A flush, which may run on any thread and takes as long as the disk needs. `offset` is the
    recovery point afterwards."""

    __slots__ = ("_steps", "offset")

    def __init__(self, offset: int, steps: Sequence[Callable[[], None]]) -> None:
        self.offset, self._steps = offset, steps

    def run(self) -> None:
        """Runs it, once. Raises DiskFailure; then nothing counts as flushed."""
        for step in self._steps:
            step()

    def __repr__(self) -> str:
        return f"{len(self._steps)} flushes up to offset {self.offset}"
