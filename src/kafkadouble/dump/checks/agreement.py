"""Checks that the files beside a segment agree with its batches. A cursor follows the entries of
each file while the batches of the segment are read.

A cursor reads its first entry before the segment is opened, so that on a running node it cannot be
ahead of the batches. A wrong entry raises `BadFile` at the position of the entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from kafkadouble.dump.contents.file import FileBytes
from kafkadouble.server.log.epochs import LeaderEpochCache
from kafkadouble.server.log.formats import BadFile, offset_index, time_index, txn_index
from kafkadouble.server.log.formats.offset_index import OffsetPosition
from kafkadouble.server.log.formats.time_index import TimestampOffset
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.transactions import AbortedTransaction
from kafkadouble.wire.batch import BatchHeader

E = TypeVar("E")


class Cursor(Generic[E]):
    """A cursor over the entries of one file."""

    SIZE = 0

    def __init__(self, entries: Iterator[E], file: str) -> None:
        self._entries, self._file = entries, file
        self._number = -1
        self.entry: E | None = None
        self.advance()

    def advance(self) -> None:
        self.entry = next(self._entries, None)
        self._number += 1

    def wrong(self, problem: str) -> BadFile:
        return BadFile(problem, file=self._file, offset=self._number * self.SIZE)

    def see(self, position: int, header: BatchHeader) -> None:
        """Compares the next batch of the segment with the entries."""
        raise NotImplementedError

    def finish(self) -> None:
        """Ends the segment. Raises BadFile when entries are left."""
        if self.entry is not None:
            raise self.wrong(f"{self.entry} is past the end of the segment")


class OffsetCursor(Cursor[OffsetPosition]):
    """`.index`: a batch begins at the position, and the offset is the last one of this batch, or of
    a later batch of the same append."""

    SIZE = offset_index.SIZE

    def __init__(self, data: FileBytes, base_offset: int) -> None:
        self._begun = False
        super().__init__(offset_index.entries(data, base_offset, str(data.path)), str(data.path))

    def see(self, position: int, header: BatchHeader) -> None:
        while self.entry is not None:
            if not self._begun:
                if self.entry.position > position:
                    return
                if self.entry.position < position:
                    raise self.wrong(f"position {self.entry.position}, where no batch begins")
                self._begun = True
            if self.entry.offset > header.last_offset:
                return
            if self.entry.offset < header.last_offset:
                raise self.wrong(f"offset {self.entry.offset}, where the batch ends with {header.last_offset}")
            self._begun = False
            self.advance()


class TimeCursor(Cursor[TimestampOffset]):
    """`.timeindex`: the batch with the offset has the timestamp, and no earlier batch has a later
    timestamp."""

    SIZE = time_index.SIZE

    def __init__(self, data: FileBytes, base_offset: int) -> None:
        self._latest = -1
        super().__init__(time_index.entries(data, base_offset, str(data.path)), str(data.path))

    def see(self, position: int, header: BatchHeader) -> None:
        while self.entry is not None and self.entry.offset <= header.last_offset:
            if self.entry.offset < header.base_offset and header.magic == 2:
                raise self.wrong(f"offset {self.entry.offset}, which no batch has")
            if max(self._latest, header.max_timestamp) != self.entry.timestamp:
                latest = max(self._latest, header.max_timestamp)
                raise self.wrong(f"timestamp {self.entry.timestamp}, where {latest} is the latest up to this offset")
            self.advance()
        self._latest = max(self._latest, header.max_timestamp)


class TransactionCursor(Cursor[AbortedTransaction]):
    """`.txnindex`: the last offset is that of a marker of the producer. Compaction may have removed
    the marker."""

    SIZE = txn_index.SIZE

    def __init__(self, data: FileBytes, base_offset: int) -> None:
        super().__init__(txn_index.entries(data, base_offset, str(data.path)), str(data.path))

    def see(self, position: int, header: BatchHeader) -> None:
        while self.entry is not None and self.entry.last_offset <= header.last_offset:
            there = header.base_offset <= self.entry.last_offset
            if there and not (header.is_control and header.producer_id == self.entry.producer_id):
                raise self.wrong(f"{self.entry}, where there is no marker of this producer")
            self.advance()


class EpochRule:
    """`leader-epoch-checkpoint`: each batch has the leader epoch that the file gives for its
    offset.

    If there is no file, or it is empty (as after the log start offset moved to the end of the log),
    epochs only must not decrease.
    """

    def __init__(self, entries: list[OffsetAndEpoch] | None, *, live: bool) -> None:
        self._cache = LeaderEpochCache(entries) if entries else None
        self._live = live
        self._last = -1

    def problem(self, header: BatchHeader) -> str | None:
        """The problem with the epoch of a batch; empty if there is none. Batches of magic 0 and 1
        have none."""
        epoch = header.partition_leader_epoch
        if header.magic < 2:
            return None
        if epoch < self._last:
            return f"leader epoch {epoch} after {self._last}"
        self._last = epoch
        return None if self._cache is None or epoch < 0 else self._against(self._cache, epoch, header.base_offset)

    def _against(self, cache: LeaderEpochCache, epoch: int, offset: int) -> str | None:
        first = cache.earliest
        # Below the log start offset. The first epoch in the file is that of the log start offset.
        if offset < first.offset:
            return None if epoch <= first.epoch else f"leader epoch {epoch}, where the file begins with {first.epoch}"
        expected = cache.epoch_for(offset)
        if epoch == expected or (self._live and epoch > cache.latest):
            return None
        return f"leader epoch {epoch}, where leader-epoch-checkpoint has {expected}"
