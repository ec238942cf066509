"""Where a log keeps its batches: the seam behind which memory and files (Kafka's own formats) are siblings.

A storage is a row of segments, oldest first, never none. A segment is a run of whole batches in offset order, known by the offset that it
begins at; only the last one, the active one, is appended to. Segments end where Kafka would end them, because retention, and with it the log
start offset that clients see, goes by whole segments. Inside a segment a storage finds its way by a sparse index (offset and largest
timestamp so far -> position), and is free to lay out the bytes as it likes: memory in chunks, files in a `.log` with its `.index` and
`.timeindex`.

Rules for every storage. A batch is copied in once, with its base offset and leader epoch stamped on it (or kept where it lies, stamped as it
is, if it never changes there); after that its bytes never change, so that what a read has handed out stays good through appends, truncation
and deletion. A read gives whole batches, and may stop before it
must: at the end of a segment, as Kafka does, or where a large piece of memory ends. Offsets need not be dense: a truncation inside a batch,
or a compacted leader, leaves gaps. A storage knows no producers, no watermarks, no settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from .config import LogConfig
from .offset_and_epoch import OffsetAndEpoch
from .producers import Producer
from .transactions import AbortedTransaction

INDEX_INTERVAL = 4096
"""Bytes of batches between two entries of a sparse index (`index.interval.bytes`)."""

ANY_TIMESTAMP = -(2**63)
"""The lower bound that every timestamp keeps, none (-1) included."""


class Slice(NamedTuple):
    """Whole batches, one after the other: `offset` is the base offset of the first, `next_offset` where reading goes on after the last."""

    records: memoryview | bytes
    offset: int
    next_offset: int


class Loan(NamedTuple):
    """Whole batches for somebody who only hands them on: they may still lie in their file. `next_offset` as in a Slice."""

    records: Buffer | FileSlice
    next_offset: int

    @classmethod
    def of(cls, found: Slice | None) -> Loan | None:
        return None if found is None else cls(found.records, found.next_offset)


class Placed(NamedTuple):
    """What a storage must know of a batch to keep it. `sealed` is False for a batch of our own whose checksum is still to be computed:
    the storage does that before anybody sees it who may look at it."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    max_timestamp: int
    sealed: bool = True


class Segment(Protocol):
    """One segment. Attributes are kept up to date by the storage, and not to be set by others."""

    @property
    def base_offset(self) -> int:
        """The offset that it begins at: no batch in it has a smaller one, none before it a larger."""
        ...

    @property
    def next_offset(self) -> int:
        """One past its last record; `base_offset` while it is empty."""
        ...

    @property
    def size(self) -> int:
        """Bytes of all batches that it was given and that were not truncated."""
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
        """The largest timestamp of its first batch, -1 while it is empty: `segment.ms` counts from there."""
        ...

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp of all its batches; -1 when none has one."""
        ...

    @property
    def full(self) -> bool:
        """Whether its index has no room for another entry."""
        ...

    def read(
        self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool, sealed: bool = True
    ) -> Slice | None:
        """Batches from the one that holds `offset` (or the first after it) on, that lie wholly below `upper_bound`, up to `max_bytes`, or
        one larger batch with `at_least_one`. None when there is none. Without `sealed`, batches of our own may still lack their checksum."""
        ...

    def lend(self, offset: int, max_bytes: int, upper_bound: int, at_least_one: bool) -> Loan | None:
        """What `read` gives, for somebody who hands it on."""
        ...

    def batches(self, offset: int, min_timestamp: int) -> Iterator[memoryview]:
        """The batches from the one that holds `offset` on, one by one, that have a record as late as `min_timestamp`."""
        ...


class Rewriting(Protocol):
    """A segment that is being written to take the place of others, as compaction does. Nobody sees it before it is finished."""

    def append(self, batch: Buffer) -> None:
        """A batch as it shall be, with its offsets, epoch and checksum; in offset order."""
        ...

    def finish(self) -> None:
        """Put it in the place of the others; it outlives the machine from then on."""
        ...

    def drop(self) -> None:
        """Leave everything as it was; nothing happens when it is finished."""
        ...


class Storage(Protocol):
    """All segments of one log. Its `repr` says how much it holds, and in what."""

    @property
    def segments(self) -> Sequence[Segment]: ...

    def append(self, batch: Buffer, placed: Placed, now: int) -> None:
        """Add one batch to the end of the active segment."""
        ...

    def roll(self, base_offset: int, config: LogConfig) -> None:
        """Begin a new active segment, for which these settings hold."""
        ...

    def drop_oldest(self, count: int) -> None:
        """Delete that many segments, but never the active one."""
        ...

    def truncate(self, offset: int) -> None:
        """Delete every batch that reaches `offset` or beyond; the first segment begins at or below it."""
        ...

    def restart(self, offset: int) -> None:
        """Delete everything, and begin an empty segment at `offset`."""
        ...

    def release(self, offset: int) -> None:
        """Nobody will read below `offset` again: room may be given back, but the segments stay and keep their size."""
        ...

    def rewrite(self, segments: Sequence[Segment], config: LogConfig) -> Rewriting:
        """Begin one segment that is to take the place of these, which follow one another and are all closed."""
        ...

    def keep_epochs(self, entries: Sequence[OffsetAndEpoch], *, flush: bool = False) -> None:
        """Where each leader epoch begins, from now on. Written so that it outlives the process; with `flush`, the machine too. Without it is
        flushed with the batches: entries that are stale after a loss of power are beyond the ends of the log, and go at the start."""
        ...

    def keep_producers(self, offset: int, producers: Iterable[Producer]) -> None:
        """What is known of the producers at `offset`, so that later only the batches from there on have to be read for it."""
        ...

    def list_aborted(self, transaction: AbortedTransaction) -> None:
        """The marker that was appended last has aborted this transaction."""
        ...

    def producers_at(self, offset: int) -> tuple[int, list[Producer]] | None:
        """The newest that was kept at or before `offset`, and where; None when everything has to be read."""
        ...

    @property
    def recovery_point(self) -> int:
        """Below it everything would outlive the machine; 0 where nothing does."""
        ...

    def unflushed(self) -> Flush | None:
        """What there is to be done to make all that was written up to now outlive the machine."""
        ...

    def flushed(self, offset: int) -> None:
        """A flush up to `offset` was done."""
        ...

    def tick(self, now: int, config: LogConfig) -> None:
        """Give back the room of what was deleted long enough ago."""
        ...

    def close(self, *, flush: bool = True) -> None:
        """Nothing will be appended or read any more; everything is flushed, unless it is to be deleted."""
        ...


class Flush:
    """Work that may take as long as a disk does, for any thread; `offset` is the recovery point afterwards."""

    __slots__ = ("_steps", "offset")

    def __init__(self, offset: int, steps: Sequence[Callable[[], None]]) -> None:
        self.offset, self._steps = offset, steps

    def run(self) -> None:
        """Do it, once. Raises what the disk raises, and then nothing is flushed."""
        for step in self._steps:
            step()

    def __repr__(self) -> str:
        return f"{len(self._steps)} flushes up to offset {self.offset}"
