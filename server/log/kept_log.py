"""What a log is besides appending and reading: its parts, and the care that they take: flushing, rewriting, giving back room, closing.

Rules. Nothing here gives an offset or moves one; `log` does. What takes long (a flush) is handed out as work for another thread.
"""

from collections.abc import Sequence

from .config import LogConfig
from .found import Found
from .producers import Producers
from .storage import Flush, Rewriting, Segment, Storage
from .transactions import Transactions


class KeptLog:
    """The parts of a log. `log_start_offset` is the first offset that may be read, never above the high watermark; `log_end_offset` that of the
    next record; compaction has seen what lies below `cleaned_to`."""

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

    def __init__(self, topic: str, index: int, config: LogConfig, storage: Storage, found: Found) -> None:
        self.topic, self.index, self.config = topic, index, config
        self._storage = storage
        self.epochs, self._state = found.epochs, found.state
        self.log_start_offset, self.log_end_offset = found.log_start_offset, found.log_end_offset
        self._looked_at = 0  # when it was last found to be flushed because of its age (ms)
        self.cleaned_to = 0
        self.truncations = 0  # how often records were cut off its end

    @property
    def producers(self) -> Producers:
        """The producers that have written to it."""
        return self._state.producers

    @property
    def transactions(self) -> Transactions:
        return self._state.transactions

    @property
    def segments(self) -> Sequence[Segment]:
        """Oldest first; only the last one grows."""
        return self._storage.segments

    @property
    def size(self) -> int:
        """Bytes of all segments, below the log start offset too."""
        return sum(segment.size for segment in self._storage.segments)

    @property
    def modified(self) -> int:
        """When it was last appended to (ms), 0 for never."""
        return max(segment.modified for segment in self._storage.segments)

    @property
    def flush_is_due(self) -> bool:
        """Whether a loss of power could take so many records that they are to be flushed before they count (`flush.messages`)."""
        return self.log_end_offset - self._storage.recovery_point >= self.config.flush_messages

    def flush_is_overdue(self, now: int) -> bool:
        """Whether something has waited for `flush.ms`; it is then taken to be flushed now."""
        if self.log_end_offset <= self._storage.recovery_point or now - self._looked_at < self.config.flush_ms:
            return False
        self._looked_at = now
        return True

    def rewrite(self, segments: Sequence[Segment]) -> Rewriting:
        """What is to stand in the place of these closed neighbours; nothing changes before it is finished."""
        return self._storage.rewrite(segments, self.config)

    def last_batches(self) -> dict[int, int]:
        """The last offset of each producer's last batch, by producer id: where its last sequence can be learnt."""
        return {each.producer_id: each.batches[-1].last_offset for each in self._state.producers if each.batches}

    @property
    def recovery_point(self) -> int:
        """Below it everything would outlive the machine."""
        return self._storage.recovery_point

    def unflushed(self) -> Flush | None:
        """What is to be done, on any thread, until all that was appended up to now would outlive the machine; then say so by `flushed`."""
        return self._storage.unflushed()

    def flushed(self, offset: int) -> None:
        """The flush up to this offset was done."""
        self._storage.flushed(offset)

    def tick(self, now: int) -> None:
        """Give back the room of segments that were deleted `file.delete.delay.ms` ago."""
        self._storage.tick(now, self.config)

    def close(self, *, flush: bool = True) -> None:
        """Stop in good order: nothing is appended or read any more, all of it is flushed, and what the next one to open it need not work out
        is written down. Without `flush` it only gives back what open files cost: it is to be deleted."""
        if flush:
            self._storage.keep_producers(self._storage.segments[-1].next_offset, self._state.producers)
        self._storage.close(flush=flush)
