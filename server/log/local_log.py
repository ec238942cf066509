"""The parts of a log, and its upkeep: roll, flush, rewrite, close (Kafka's LocalLog).

Rules. Nothing here assigns or moves an offset; `log` does. A flush takes long, so it is handed out
as work for another thread.
"""

from collections.abc import Sequence
from zlib import crc32

from .config import LogConfig
from .loaded_log import LoadedLog
from .producers import LastRecord, Producers
from .storage import Flush, LogAppendInfo, LogSegment, SegmentRewriter, Storage
from .transactions import AbortedTransaction, Transactions

# Kafka's index files hold offsets and positions as int32, relative to the segment.
_FURTHEST = 2**31 - 1


class LocalLog:
    """The parts of a log. `log_start_offset` is the first offset that may be read, never above the
    high watermark; `log_end_offset` is the offset of the next record. Compaction has cleaned
    everything below `cleaned_to`."""

    __slots__ = (
        "_looked_at",
        "_state",
        "_storage",
        "cleaned_to",
        "config",
        "epochs",
        "index",
        "log_end_offset",
        "log_start_offset",
        "topic",
        "truncations",
    )

    def __init__(self, topic: str, index: int, config: LogConfig, storage: Storage, log: LoadedLog) -> None:
        self.topic, self.index, self.config = topic, index, config
        self._storage = storage
        self.epochs, self._state = log.epochs, log.state
        self.log_start_offset, self.log_end_offset = log.log_start_offset, log.log_end_offset
        self._looked_at = 0  # when `flush.ms` last asked for a flush (ms)
        self.cleaned_to = 0
        self.truncations = 0  # how often its end was truncated

    @property
    def producers(self) -> Producers:
        """The producers that wrote to it."""
        return self._state.producers

    @property
    def transactions(self) -> Transactions:
        return self._state.transactions

    @property
    def segments(self) -> Sequence[LogSegment]:
        """Oldest first; only the last one grows."""
        return self._storage.segments

    @property
    def size(self) -> int:
        """Size of all segments in bytes, also of what lies below the log start offset."""
        return sum(segment.size for segment in self._storage.segments)

    @property
    def modified(self) -> int:
        """When it was last appended to (ms), 0 for never."""
        return max(segment.modified for segment in self._storage.segments)

    @property
    def flush_is_due(self) -> bool:
        """Whether `flush.messages` records are not flushed: the newest of them count only after a
        flush."""
        return self.log_end_offset - self._storage.recovery_point >= self.config.flush_messages

    def flush_is_overdue(self, now: int) -> bool:
        """Whether records have waited for `flush.ms`. If so, the wait begins again: the caller
        flushes now."""
        if self.log_end_offset <= self._storage.recovery_point or now - self._looked_at < self.config.flush_ms:
            return False
        self._looked_at = now
        return True

    def _must_roll(self, size: int, info: LogAppendInfo, now: int) -> bool:
        """Whether this batch begins a new segment: the active one is full or too old, or its index
        cannot count so far. A segment does not end at a gap, except on a compacted topic: so a gap
        between two segments means lost records (see `files.recovery`)."""
        active = self._storage.segments[-1]
        grown = active.size + size
        if info.last_offset - active.base_offset > _FURTHEST or grown > _FURTHEST:
            return True
        if not active.size:
            return False
        longest = self.config.max_segment_ms - self._jitter(active.base_offset)
        if grown > self.config.segment_bytes or active.full:
            over = True
        elif active.first_timestamp >= 0:
            over = info.max_timestamp - active.first_timestamp > longest
        else:
            over = now - active.created > longest
        return over and (self.config.compacts or info.base_offset == active.next_offset)

    def _jitter(self, base_offset: int) -> int:
        """How many ms sooner this segment rolls than `segment.ms` (`segment.jitter.ms`):
        pseudo-random, and always the same for one segment."""
        most = min(self.config.segment_jitter_ms, self.config.segment_ms)
        return crc32(f"{self.topic}-{self.index}-{base_offset}".encode()) % most if most else 0

    def roll(self) -> int:
        """Begins a new segment, unless the active one is empty; returns the active one's base
        offset. It follows the last record, so that no gap is between two segments."""
        active = self._storage.segments[-1]
        if active.size:
            self._roll(active.next_offset)
        return self._storage.segments[-1].base_offset

    def _roll(self, base_offset: int) -> None:
        self._storage.roll(base_offset, self.config)
        self._storage.take_producer_snapshot(base_offset, self._state.producers)

    def rewrite(self, segments: Sequence[LogSegment]) -> SegmentRewriter:
        """Begins one segment that will replace these closed neighbours. Nothing changes before it
        is finished."""
        return self._storage.rewrite(segments, self.config)

    def aborted_between(self, start: int, end: int) -> list[AbortedTransaction]:
        """The aborted transactions whose markers are in [start, end)."""
        return [each for each in self._state.transactions.aborted if start <= each.last_offset < end]

    def replace_segments(
        self, replaced: Sequence[LogSegment], rewriting: SegmentRewriter, aborted: Sequence[AbortedTransaction]
    ) -> None:
        """Replaces segments by the finished one that was begun with `rewrite`. It still lists these
        aborted transactions, and no others."""
        first, end = replaced[0].base_offset, replaced[-1].next_offset
        rewriting.finish(aborted)
        self._state.transactions.list_instead(first, end, aborted)

    def last_records(self) -> dict[int, LastRecord]:
        """The last record of each producer, by producer id. Compaction keeps its batch, which has
        the last sequence or the epoch."""
        return {producer.producer_id: producer.last_record for producer in self._state.producers}

    @property
    def recovery_point(self) -> int:
        """Everything below it is flushed."""
        return self._storage.recovery_point

    def unflushed(self) -> Flush | None:
        """The flush of everything that was appended up to now, for any thread; None when no flush
        is due. The caller reports its end by `flushed`."""
        return self._storage.unflushed()

    def flushed(self, offset: int) -> None:
        """The flush up to this offset was done."""
        self._storage.flushed(offset)

    def tick(self, now: int) -> None:
        """Removes the files of segments that were deleted `file.delete.delay.ms` ago."""
        self._storage.tick(now, self.config)

    def rename_folder(self, folder: str) -> None:
        """Renames the folder of its files; the log stays open."""
        self._storage.rename_folder(folder)

    def close(self, *, flush: bool = True) -> None:
        """Closes the log: nothing is appended or read afterwards. Everything is flushed, and a
        producer snapshot is written, so that the next start reads little. Without `flush` only the
        open files are closed, because the log is to be deleted."""
        if flush:
            self._storage.take_producer_snapshot(self._storage.segments[-1].next_offset, self._state.producers)
        self._storage.close(flush=flush)
