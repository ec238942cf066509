"""The log of one partition. Only this file assigns offsets.

    batch -> validation and inspection: is the batch accepted, and how is it stored
          -> producer state manager: is it the producer's next batch, or a retry
          -> expected_offset: does the producer expect this offset (conditional topics only)
          -> storage

Rules. The log has no clock, does no IO and never waits: time comes in as `now` (ms), and the owner
wakes whatever waits for records. An append either happens as a whole, or raises AppendRefused and
has changed nothing. The owner sets the high watermark; the log knows the rest: its start and end
offset, its leader epochs (KIP-101), its producers (KIP-98) and its last stable offset.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, read_header
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import UsageError

from . import lookup, retention
from .append_result import AppendResult
from .config import LogConfig
from .epochs import LeaderEpochCache
from .inspection import DecompressionBudget, accept, stamped
from .loaded_log import LoadedLog, empty_log
from .local_log import LocalLog
from .lookup import TimestampAndOffset
from .memory import MemoryStorage
from .offset_and_epoch import OffsetAndEpoch
from .producers import NOT_REQUIRED, AppendOrigin, VerificationStateEntry
from .refusals import AppendRefused, LogRefused, RecordError
from .replica import checked_batches
from .retention import DeletedSegments
from .storage import ANY_TIMESTAMP, Loan, LogAppendInfo, LogSegment, Slice, Storage
from .transactions import AbortedTransaction
from .validation import check_fits_segment, check_produced, check_size, sole_batch

__all__ = ["AppendOrigin", "AppendRefused", "AppendResult", "LogRefused", "PartitionLog", "RecordError", "Slice"]

_base_offset = attrgetter("base_offset")
_new = tuple.__new__  # makes a named tuple in a third of the time


class PartitionLog(LocalLog):
    """The log of partition `index` of `topic`."""

    __slots__ = ("_high_watermark",)

    def __init__(
        self,
        topic: str,
        index: int,
        config: LogConfig | None = None,
        storage: Storage | None = None,
        log: LoadedLog | None = None,
    ) -> None:
        config = config or LogConfig()
        storage = storage or MemoryStorage(0, config.index_interval_bytes)
        super().__init__(topic, index, config, storage, log or empty_log())
        self._high_watermark = self.log_start_offset  # from log_start_offset to log_end_offset

    def copy(self, storage: Storage) -> PartitionLog:
        """The same log in another storage, which has the same batches. Neither of the two has what
        is appended to the other."""
        epochs = LeaderEpochCache(self.epochs.entries)
        log = LoadedLog(self.log_start_offset, self.log_end_offset, epochs, self._state.copy())
        made = PartitionLog(self.topic, self.index, self.config, storage, log)
        made.high_watermark, made.cleaned_to = self._high_watermark, self.cleaned_to
        return made

    @property
    def high_watermark(self) -> int:
        """Every record below it is replicated. The owner sets it; a value outside of the log is
        moved to the nearest end of the log."""
        return self._high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        if not self.log_start_offset <= offset <= self.log_end_offset:
            offset = self.log_start_offset if offset < self.log_start_offset else self.log_end_offset
        self._high_watermark = offset
        self._state.transactions.settle(offset)

    def commit_all(self) -> None:
        """Moves the high watermark to the log end offset: no other replica has to fetch."""
        self._high_watermark = self.log_end_offset
        if self._state.transactions.ended:
            self._state.transactions.settle(self._high_watermark)

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of the oldest transaction whose outcome is not final. If it is deleted,
        the base offset of the batch at the log start offset, as in Kafka."""
        first = self._state.transactions.first_unstable_offset
        if first is None or first >= self.log_start_offset:
            return first
        holder = next(self.batches(self.log_start_offset), None)
        return self.log_start_offset if holder is None else read_header(holder).base_offset

    @property
    def last_stable_offset(self) -> int:
        """The end of what a read_committed consumer may read; never above the high watermark."""
        first = self.first_unstable_offset
        return self._high_watermark if first is None else min(first, self._high_watermark)

    def append_as_leader(
        self,
        batch: Buffer,
        leader_epoch: int,
        now: int,
        budget: DecompressionBudget | None = None,
        verification: VerificationStateEntry | None = NOT_REQUIRED,
    ) -> AppendResult:
        """Appends one batch of a client, after every check. AppendRefused. `batch` is copied, and
        not changed. The batches of one request share a `budget`."""
        header = sole_batch(batch)
        if header.size < len(batch):
            batch = memoryview(batch)[: header.size]
        check_produced(batch, header, self.config)
        stored, timestamp = accept(batch, header, self.config, now, budget)
        return self._append(header, stored, timestamp, leader_epoch, now, AppendOrigin.CLIENT, 0, verification)

    def append_own(
        self,
        batch: Buffer,
        *,
        leader_epoch: int,
        now: int,
        origin: AppendOrigin = AppendOrigin.COORDINATOR,
        transaction_version: int = 0,
        verification: VerificationStateEntry | None = NOT_REQUIRED,
    ) -> AppendResult:
        """Appends a batch that this node made. It is trusted, and may still lack its checksum.
        AppendRefused for a batch that is too large, and for a fenced producer or transaction
        coordinator. `transaction_version` chooses the rules for a marker. `max.message.bytes` does
        not bound batches of the metadata quorum (AppendOrigin.RAFT)."""
        header = read_header(batch)
        if header.size != len(batch):
            raise UsageError(f"{len(batch)} bytes hold more than one batch of {header.size}")
        if origin is not AppendOrigin.RAFT:
            check_size(header.size, self.config)
        stored, timestamp = stamped(batch, header, self.config, now)
        return self._append(header, stored, timestamp, leader_epoch, now, origin, transaction_version, verification)

    def _append(
        self,
        header: BatchHeader,
        batch: Buffer,
        timestamp: int,
        leader_epoch: int,
        now: int,
        origin: AppendOrigin,
        transaction_version: int,
        verification: VerificationStateEntry | None = NOT_REQUIRED,
    ) -> AppendResult:
        size, config = len(batch), self.config
        if size > config.segment_bytes:
            check_fits_segment(size, config)
        if header.producer_id >= 0:
            known = self._state.check(header, batch, origin, transaction_version, verification)
            if known is not None:
                return AppendResult(
                    known.first_offset, known.last_offset, known.timestamp, self.log_start_offset, 0, True
                )
        first = self.log_end_offset
        if config.conditional and origin is AppendOrigin.CLIENT:
            from .expected_offset import check_expected

            check_expected(batch, header, config.produce_expected_offset, first)
        last = first + header.last_offset_delta
        sealed = header.crc != 0  # or will be set soon; sealing twice does no harm
        self._store(header, batch, _new(LogAppendInfo, (first, last, leader_epoch, timestamp, sealed)), now)
        append_time = now if config.timestamp_type else -1
        return _new(AppendResult, (first, last, append_time, self.log_start_offset, size, False))

    def append_as_follower(self, batches: Buffer, *, now: int, leader_epoch: int | None = None) -> AppendResult | None:
        """Appends the batches that the leader sent, with their offsets and epochs. Batches of an
        epoch above `leader_epoch` are left out. None when no batch was appended. AppendRefused,
        before any batch is appended."""
        last_epoch = self.epochs.epoch_for(self.log_end_offset - 1)
        found = checked_batches(batches, leader_epoch, self.log_end_offset, last_epoch)
        with memoryview(batches) as view:
            for position, header in found:
                batch = view[position : position + header.size]
                info = LogAppendInfo(
                    header.base_offset, header.last_offset, header.partition_leader_epoch, header.max_timestamp
                )
                self._store(header, batch, info, now)
        if not found:
            return None
        size = sum(header.size for _, header in found)
        return AppendResult(found[0][1].base_offset, found[-1][1].last_offset, -1, self.log_start_offset, size)

    def _store(self, header: BatchHeader, batch: Buffer, info: LogAppendInfo, now: int) -> None:
        if self._must_roll(len(batch), info, now):
            self._roll(info.base_offset)
        if info.leader_epoch != self.epochs.latest and info.leader_epoch >= 0:
            self._assign_epoch(info.leader_epoch, info.base_offset)
        self._storage.append(batch, info, now)
        if header.producer_id >= 0:
            aborted = self._state.record(header, batch, info.base_offset, info.max_timestamp)
            if aborted is not None:
                self._storage.list_aborted(aborted)
        self.log_end_offset = info.last_offset + 1

    def _assign_epoch(self, epoch: int, start: int) -> None:
        """Begins a leader epoch. This happens once for many batches, and its entry is flushed
        before the first of them is written (KIP-101)."""
        if self.epochs.assign(epoch, start):
            self._storage.write_leader_epochs(self.epochs.entries, flush=True)

    def begin_epoch(self, leader_epoch: int) -> None:
        """This node leads from now on, in this epoch. The epoch is known before a record is written
        in it."""
        self._assign_epoch(leader_epoch, self.log_end_offset)

    def read(
        self,
        offset: int,
        max_bytes: int,
        upper_bound: int | None = None,
        *,
        at_least_one: bool = True,
        sealed: bool = True,
    ) -> Slice:
        """Reads whole batches, beginning with the one that holds `offset`, that lie wholly below
        `upper_bound` (the high watermark unless given): up to `max_bytes`, or one larger batch with
        `at_least_one`. A read may stop early, at the end of a chunk of memory. `sealed=False` is
        for readers inside this node that check no checksum: batches that this node made may
        still lack theirs then.

        LogRefused(OFFSET_OUT_OF_RANGE) below the log start offset and beyond the log end offset.
        """
        for segment, bound in self._to_read(offset, upper_bound):
            found = segment.read(offset, max(0, max_bytes), bound, at_least_one, sealed)
            if found is not None:
                return found
            # Without at_least_one the next batch may be too large; else compaction left no batch.
            if not at_least_one:
                break
        return Slice(b"", offset, offset)

    def lend(self, offset: int, max_bytes: int, upper_bound: int, *, at_least_one: bool) -> Loan:
        """Reads as `read` does, for a caller that only sends the bytes on."""
        for segment, bound in self._to_read(offset, upper_bound):
            loan = segment.lend(offset, max(0, max_bytes), bound, at_least_one)
            if loan is not None:
                return loan
            if not at_least_one:
                break
        return Loan(b"", offset)

    def _to_read(self, offset: int, upper_bound: int | None) -> Iterator[tuple[LogSegment, int]]:
        """The segments to read from, and the end of the read."""
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise LogRefused(
                error_codes.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of a log from {self.log_start_offset} to {self.log_end_offset}",
            )
        bound = self._high_watermark if upper_bound is None else upper_bound
        if offset < bound:
            for segment in self._segments_from(offset):
                yield segment, bound

    def _segments_from(self, offset: int) -> Sequence[LogSegment]:
        """The segments that hold records at or after `offset`."""
        segments = self._storage.segments
        if offset >= segments[-1].base_offset:
            return segments[-1:]
        first = max(0, bisect_right(segments, offset, key=_base_offset) - 1)
        return segments[first:] if segments[first].next_offset > offset else segments[first + 1 :]

    def batches(self, offset: int) -> Iterator[memoryview]:
        """Yields every batch, committed or not, beginning with the one that holds `offset`. For
        folds, recovery and tools."""
        for segment in self._segments_from(offset):
            yield from segment.batches(offset, ANY_TIMESTAMP)

    def aborted_in(self, offset: int, upper_bound: int) -> list[AbortedTransaction]:
        """The aborted transactions that a read_committed consumer needs for [offset,
        upper_bound)."""
        return self._state.transactions.aborted_in(offset, upper_bound)

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """The largest epoch up to `epoch`, and its end offset; see LeaderEpochCache."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    def offset_for(self, timestamp: int) -> TimestampAndOffset:
        """Answers ListOffsets for a timestamp, or for one of the negative special timestamps (see
        `lookup`): -1 and -1 when no record fits.

        LATEST gives the log end offset: the handler knows how far the client may read.
        """
        return lookup.offset_for(self, timestamp)

    def truncate_to(self, offset: int) -> bool:
        """Deletes every batch that reaches `offset` or beyond, and says whether any was deleted. A
        truncation below the high watermark lowers it; the caller decides whether that is right."""
        if offset < 0:
            raise UsageError(f"a log cannot end at offset {offset}")
        if offset >= self.log_end_offset:
            if self.epochs.latest_start >= self.log_end_offset:
                self.epochs.truncate_from_end(self.log_end_offset)
                self._storage.write_leader_epochs(self.epochs.entries)
            return False
        if offset < self.log_start_offset:  # no readable record is left
            self.truncate_fully_and_start_at(offset)
            return True
        self.truncations += 1
        self._storage.truncate(offset)
        self.epochs.truncate_from_end(offset)
        self._storage.write_leader_epochs(self.epochs.entries)
        self.log_end_offset = offset
        self.cleaned_to = min(offset, self.cleaned_to)
        kept = self._storage.latest_producer_snapshot(offset) or (0, ())
        if kept[0] <= self.log_start_offset:
            # As in Kafka: the marker of a transaction that is open there may be deleted.
            kept = self.log_start_offset, ()
        # without producers there is no state to rebuild
        has_producers = len(self._state.producers) or kept[1]
        self._state.rebuild(offset, kept[1], self.batches(kept[0]) if has_producers else ())
        self.high_watermark = self._high_watermark
        return True

    def truncate_fully_and_start_at(self, offset: int, log_start_offset: int | None = None) -> None:
        """Deletes everything. The next record gets `offset`, as after a leader or a snapshot that
        is that far ahead."""
        self.truncations += 1
        self._storage.restart(offset)
        self.epochs.clear()
        self._storage.write_leader_epochs(())
        self._state.clear()
        self.cleaned_to = 0
        self.log_start_offset = offset if log_start_offset is None else log_start_offset
        self.log_end_offset = offset
        self.high_watermark = offset

    def delete_records_before(self, offset: int) -> None:
        """Raises the log start offset to `offset`; a smaller one changes nothing.
        LogRefused(OFFSET_OUT_OF_RANGE) above the high watermark."""
        if offset > self._high_watermark:
            raise LogRefused(
                error_codes.OFFSET_OUT_OF_RANGE,
                f"records before {offset} of a log that is replicated to {self._high_watermark}",
            )
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.epochs.truncate_from_start(offset)
            self._storage.write_leader_epochs(self.epochs.entries)
            if not self.config.compacts:  # a cleaning reads whole segments
                self._storage.release(offset)

    def take_over(self, other: PartitionLog) -> None:
        """Becomes the log of the partition in place of `other`, which has the same records. State
        that is only in memory is kept, such as an epoch without a record."""
        self._state, self.truncations = other._state, other.truncations
        self.epochs = LeaderEpochCache(other.epochs.entries)
        self._storage.write_leader_epochs(self.epochs.entries, flush=True)
        self.high_watermark = other.high_watermark
        self.delete_records_before(other.log_start_offset)

    def retain(self, now: int) -> list[DeletedSegments]:
        """Deletes the segments that the topic's retention no longer keeps, and says which."""
        dropped = []
        segments = self._storage.segments
        for reason, due in retention.rules(segments, self.log_start_offset, self.config, now):
            count = retention.count_due(segments, due, self.log_end_offset, self._high_watermark)
            if count:
                dropped.append(DeletedSegments(reason, count, sum(segment.size for segment in segments[:count])))
                self._drop_oldest(count)
        return dropped

    def delete_old_segments(self) -> int:
        """Deletes the segments that lie wholly below the log start offset, and returns how many.
        For a log that no other rule shortens."""
        due = retention.below_start(self._storage.segments, self.log_start_offset)
        count = retention.count_due(self._storage.segments, due, self.log_end_offset, self._high_watermark)
        if count:
            self._drop_oldest(count)
        return count

    def _drop_oldest(self, count: int) -> None:
        if count == len(self._storage.segments):
            self._roll(self.log_end_offset)
        self._storage.drop_oldest(count)
        first = self._storage.segments[0].base_offset
        self.delete_records_before(first)
        self._state.transactions.forget_below(first)

    def __repr__(self) -> str:
        return (
            f"PartitionLog {self.topic}-{self.index}, offsets {self.log_start_offset}..{self.log_end_offset}, "
            f"epoch {self.epochs.latest}, {self._storage!r}"
        )
