"""One partition's log: offsets are given here, and nowhere else.

    batch -> validation, inspection (may it be taken, and how is it stored) -> producers (is it next, or a retry)
          -> expected_offset (does its producer expect it here; conditional topics only) -> storage

Rules. No clock, no IO, no waiting: time comes in as `now` (ms), and who waits for data is woken by the owner. An append either happens whole
or raises AppendRefused and has changed nothing. The owner says how far the log is replicated (`high_watermark`); the log knows the rest:
where it begins and ends, in which epochs it was written (KIP-101), which producers write to it (KIP-98), what of it is stable.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from zlib import crc32

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, read_header
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import UsageError

from . import lookup, retention
from .append_result import AppendResult
from .config import LogConfig
from .divergence import Comparison, compare
from .expected_offset import check_expected
from .found import Found, nothing
from .inspection import Room, accept, stamped
from .kept_log import KeptLog
from .lookup import TimestampAndOffset
from .memory import MemoryStorage
from .offset_and_epoch import OffsetAndEpoch
from .producers import AppendOrigin
from .refusals import AppendRefused, LogRefused, RecordError
from .replica import checked_batches
from .retention import Dropped
from .storage import ANY_TIMESTAMP, Loan, Placed, Segment, Slice, Storage
from .transactions import AbortedTransaction
from .validation import check_fits_segment, check_produced, check_size, sole_batch

__all__ = ["AppendOrigin", "AppendRefused", "AppendResult", "LogRefused", "PartitionLog", "RecordError", "Slice"]

_FURTHEST = 2**31 - 1  # offsets and positions stand in Kafka's index files as int32, counted from the segment's start

_base_offset = attrgetter("base_offset")
_new = tuple.__new__  # of a named tuple, in a third of the time that calling its class takes


class PartitionLog(KeptLog):
    """The log of partition `index` of `topic`."""

    __slots__ = ("_high_watermark",)

    def __init__(
        self,
        topic: str,
        index: int,
        config: LogConfig | None = None,
        storage: Storage | None = None,
        found: Found | None = None,
    ) -> None:
        super().__init__(topic, index, config or LogConfig(), storage or MemoryStorage(), found or nothing())
        self._high_watermark = self.log_start_offset  # from log_start_offset to log_end_offset

    @property
    def high_watermark(self) -> int:
        """Below it everything is replicated. Set by the owner; what lies outside of the log is moved to its nearest end."""
        return self._high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        if not self.log_start_offset <= offset <= self.log_end_offset:
            offset = self.log_start_offset if offset < self.log_start_offset else self.log_end_offset
        self._high_watermark = offset
        self._state.transactions.settle(offset)

    def commit_all(self) -> None:
        """Move the high watermark to the end: there is nobody else to replicate to."""
        self._high_watermark = self.log_end_offset
        if self._state.transactions.ended:
            self._state.transactions.settle(self._high_watermark)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction begins that is not decided for good."""
        first = self._state.transactions.first_unstable_offset
        return None if first is None else max(first, self.log_start_offset)

    @property
    def last_stable_offset(self) -> int:
        """How far a reader of committed records may go: never past the high watermark."""
        first = self.first_unstable_offset
        return self._high_watermark if first is None else min(first, self._high_watermark)

    def append_as_leader(self, batch: Buffer, leader_epoch: int, now: int, room: Room | None = None) -> AppendResult:
        """Append what a client produced: one batch, checked in every way. Raises AppendRefused. `batch` is copied, and not changed. `room` is
        shared by the batches of one request."""
        header = sole_batch(batch)
        if header.size < len(batch):
            batch = memoryview(batch)[: header.size]
        check_produced(batch, header, self.config)
        stored, timestamp = accept(batch, header, self.config, now, room)
        return self._append(header, stored, timestamp, leader_epoch, now, AppendOrigin.CLIENT, 0)

    def append_own(
        self,
        batch: Buffer,
        *,
        leader_epoch: int,
        now: int,
        origin: AppendOrigin = AppendOrigin.COORDINATOR,
        transaction_version: int = 0,
    ) -> AppendResult:
        """Append a batch that this node made: it is trusted, and may be unsealed. AppendRefused when it is too large, or from a producer
        or a transaction coordinator that was fenced. `transaction_version` says by which rules a marker is judged; the metadata quorum's
        batches (AppendOrigin.RAFT) are bound by no topic's `max.message.bytes`."""
        header = read_header(batch)
        if header.size != len(batch):
            raise UsageError(f"{len(batch)} bytes hold more than one batch of {header.size}")
        if origin is not AppendOrigin.RAFT:
            check_size(header.size, self.config)
        stored, timestamp = stamped(batch, header, self.config, now)
        return self._append(header, stored, timestamp, leader_epoch, now, origin, transaction_version)

    def _append(
        self,
        header: BatchHeader,
        batch: Buffer,
        timestamp: int,
        leader_epoch: int,
        now: int,
        origin: AppendOrigin,
        transaction_version: int,
    ) -> AppendResult:
        size, config = len(batch), self.config
        if size > config.segment_bytes:
            check_fits_segment(size, config)
        if header.producer_id >= 0:
            known = self._state.check(header, batch, origin, transaction_version)
            if known is not None:
                return AppendResult(
                    known.first_offset, known.last_offset, known.timestamp, self.log_start_offset, 0, True
                )
        first = self.log_end_offset
        if config.conditional and origin is AppendOrigin.CLIENT:
            check_expected(batch, header, config.produce_expected_offset, first)
        last = first + header.last_offset_delta
        sealed = header.crc != 0  # or just about to be: sealing twice does no harm
        self._store(header, batch, _new(Placed, (first, last, leader_epoch, timestamp, sealed)), now)
        append_time = now if config.timestamp_type else -1
        return _new(AppendResult, (first, last, append_time, self.log_start_offset, size, False))

    def append_as_follower(self, batches: Buffer, *, now: int, leader_epoch: int | None = None) -> AppendResult | None:
        """Append what the leader sent: batches with offsets and epochs. Those of epochs above `leader_epoch` are left out. None when
        there was nothing to append. Raises AppendRefused before anything is appended."""
        last_epoch = self.epochs.epoch_for(self.log_end_offset - 1)
        found = checked_batches(batches, leader_epoch, self.log_end_offset, last_epoch)
        with memoryview(batches) as view:
            for position, header in found:
                batch = view[position : position + header.size]
                placed = Placed(
                    header.base_offset, header.last_offset, header.partition_leader_epoch, header.max_timestamp
                )
                self._store(header, batch, placed, now)
        if not found:
            return None
        size = sum(header.size for _, header in found)
        return AppendResult(found[0][1].base_offset, found[-1][1].last_offset, -1, self.log_start_offset, size)

    def _store(self, header: BatchHeader, batch: Buffer, placed: Placed, now: int) -> None:
        if self._must_roll(len(batch), placed, now):
            self._roll(placed.base_offset)
        if placed.leader_epoch != self.epochs.latest and placed.leader_epoch >= 0:
            self._assign_epoch(placed.leader_epoch, placed.base_offset)
        self._storage.append(batch, placed, now)
        if header.producer_id >= 0:
            aborted = self._state.record(header, batch, placed.base_offset, placed.max_timestamp)
            if aborted is not None:
                self._storage.list_aborted(aborted)
        self.log_end_offset = placed.last_offset + 1

    def _roll(self, base_offset: int) -> None:
        self._storage.roll(base_offset, self.config)
        self._storage.keep_producers(base_offset, self._state.producers)

    def _assign_epoch(self, epoch: int, start: int) -> None:
        """An epoch begins, which is once for many batches: it is on the disk before the first of them is written (KIP-101)."""
        if self.epochs.assign(epoch, start):
            self._storage.keep_epochs(self.epochs.entries, flush=True)

    def _must_roll(self, size: int, placed: Placed, now: int) -> bool:
        """Whether the active segment ends here: it is full, too old, or its index could not count so far. After a gap it goes on all the same,
        but where compaction leaves gaps anywhere: what is missing between two segments is then known to be lost (see `files.recovery`)."""
        active = self._storage.segments[-1]
        grown = active.size + size
        if placed.last_offset - active.base_offset > _FURTHEST or grown > _FURTHEST:
            return True
        if not active.size:
            return False
        longest = self.config.max_segment_ms - self._jitter(active.base_offset)
        if grown > self.config.segment_bytes or active.full:
            over = True
        elif active.first_timestamp >= 0:
            over = placed.max_timestamp - active.first_timestamp > longest
        else:
            over = now - active.created > longest
        return over and (self.config.compacts or placed.base_offset == active.next_offset)

    def _jitter(self, base_offset: int) -> int:
        """How much sooner a segment ends than others (`segment.jitter.ms`): by chance, but always the same for the same segment."""
        most = min(self.config.segment_jitter_ms, self.config.segment_ms)
        return crc32(f"{self.topic}-{self.index}-{base_offset}".encode()) % most if most else 0

    def begin_epoch(self, leader_epoch: int) -> None:
        """This node leads from now on, in this epoch; it is known even before anything is written in it."""
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
        """Whole batches from the one that holds `offset` on, that lie wholly below `upper_bound` (the high watermark unless given), up to
        `max_bytes`, or one larger batch with `at_least_one`. It may stop early: what comes next is in another piece of memory.
        Whoever reads for himself and looks at no checksum says so (`sealed`): those of our own batches are computed when they are needed.

        LogRefused(OFFSET_OUT_OF_RANGE) below the log's start and beyond its end.
        """
        for segment, bound in self._to_read(offset, upper_bound):
            found = segment.read(offset, max(0, max_bytes), bound, at_least_one, sealed)
            if found is not None:
                return found
            if (
                not at_least_one
            ):  # what lies here may be too large; otherwise compaction left nothing at the segment's end
                break
        return Slice(b"", offset, offset)

    def lend(self, offset: int, max_bytes: int, upper_bound: int, *, at_least_one: bool) -> Loan:
        """What `read` gives, for somebody who only hands it on."""
        for segment, bound in self._to_read(offset, upper_bound):
            found = segment.lend(offset, max(0, max_bytes), bound, at_least_one)
            if found is not None:
                return found
            if not at_least_one:
                break
        return Loan(b"", offset)

    def _to_read(self, offset: int, upper_bound: int | None) -> Iterator[tuple[Segment, int]]:
        """The segments to look in, and how far."""
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise LogRefused(
                error_codes.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of a log from {self.log_start_offset} to {self.log_end_offset}",
            )
        bound = self._high_watermark if upper_bound is None else upper_bound
        if offset < bound:
            for segment in self._segments_from(offset):
                yield segment, bound

    def _segments_from(self, offset: int) -> Sequence[Segment]:
        """The segments that hold records at or after `offset`."""
        segments = self._storage.segments
        if offset >= segments[-1].base_offset:
            return segments[-1:]
        first = max(0, bisect_right(segments, offset, key=_base_offset) - 1)
        return segments[first:] if segments[first].next_offset > offset else segments[first + 1 :]

    def batches(self, offset: int) -> Iterator[memoryview]:
        """Every batch from the one that holds `offset` on, one by one, whatever is committed; for folds, recovery and tools."""
        for segment in self._segments_from(offset):
            yield from segment.batches(offset, ANY_TIMESTAMP)

    def aborted_in(self, offset: int, upper_bound: int) -> list[AbortedTransaction]:
        """The aborted transactions that a reader of committed records in [offset, upper_bound) must know of."""
        return self._state.transactions.aborted_in(offset, upper_bound)

    def compare(self, fetch_offset: int, last_fetched_epoch: int) -> Comparison:
        """Whether a fetcher at `fetch_offset`, which read an epoch last, has our history."""
        return compare(fetch_offset, last_fetched_epoch, self.epochs, self.log_start_offset, self.log_end_offset)

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """The largest epoch up to `epoch` and where it ends; see LeaderEpochCache."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    def offset_for(self, timestamp: int) -> TimestampAndOffset:
        """What ListOffsets asks by a time, or by one of the negative ones that stand for a place (see `lookup`): -1 and -1 for nothing.

        LATEST gives the log's end: up to where the asker may see is the handler's to say.
        """
        return lookup.offset_for(self, timestamp)

    def truncate_to(self, offset: int) -> bool:
        """Drop everything from `offset` on, and the whole batch that it lies in; tells whether anything went. Below the high watermark
        this is allowed, and takes it along: whether it should be is the caller's to know."""
        if offset < 0:
            raise UsageError(f"a log cannot end at offset {offset}")
        if offset >= self.log_end_offset:
            if self.epochs.latest_start >= self.log_end_offset:
                self.epochs.truncate_from_end(self.log_end_offset)
                self._storage.keep_epochs(self.epochs.entries)
            return False
        if offset < self.log_start_offset:  # no record is left that may be read
            self.truncate_fully_and_start_at(offset)
            return True
        self.truncations += 1
        self._storage.truncate(offset)
        self.epochs.truncate_from_end(offset)
        self._storage.keep_epochs(self.epochs.entries)
        self.log_end_offset = offset
        self.cleaned_to = min(offset, self.cleaned_to)
        kept = self._storage.producers_at(offset) or (0, ())
        since = max(kept[0], self.log_start_offset)
        knows = len(self._state.producers) or kept[1]  # where there is no producer there is nothing to learn
        self._state.rebuild(offset, kept[1], self.batches(since) if knows else ())
        self.high_watermark = self._high_watermark
        return True

    def truncate_fully_and_start_at(self, offset: int, log_start_offset: int | None = None) -> None:
        """Drop everything; the next record gets `offset`, as after a leader or a snapshot that is that far ahead."""
        self.truncations += 1
        self._storage.restart(offset)
        self.epochs.clear()
        self._storage.keep_epochs(())
        self._state.clear()
        self.cleaned_to = 0
        self.log_start_offset = offset if log_start_offset is None else log_start_offset
        self.log_end_offset = offset
        self.high_watermark = offset

    def delete_records_before(self, offset: int) -> None:
        """Move the log's start up to `offset`; a smaller one changes nothing. LogRefused(OFFSET_OUT_OF_RANGE) past the high watermark."""
        if offset > self._high_watermark:
            raise LogRefused(
                error_codes.OFFSET_OUT_OF_RANGE,
                f"records before {offset} of a log that is replicated to {self._high_watermark}",
            )
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.epochs.truncate_from_start(offset)
            self._storage.keep_epochs(self.epochs.entries)
            if not self.config.compacts:  # a cleaning reads all of a segment
                self._storage.release(offset)

    def retain(self, now: int) -> list[Dropped]:
        """Delete the segments that the topic's settings no longer keep, and say which."""
        dropped = []
        segments = self._storage.segments
        for reason, due in retention.rules(segments, self.log_start_offset, self.config, now):
            count = retention.count_due(segments, due, self.log_end_offset, self._high_watermark)
            if count:
                dropped.append(Dropped(reason, count, sum(segment.size for segment in segments[:count])))
                self._drop_oldest(count)
        return dropped

    def delete_old_segments(self) -> int:
        """Delete the segments that lie wholly below the log start offset; their number. For a log that no other rule shortens."""
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
