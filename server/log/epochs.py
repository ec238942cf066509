"""The leader epoch cache: where the records of each leader begin (KIP-101), and so where a leader
epoch ends (KIP-279).

A list of (epoch, offset of its first record), ascending in both. The last entry may stand at the
log end offset, for a leader that has written nothing yet. The cache never reads the log: its owner
reports appends and truncations. `entries` is the content of the file `leader-epoch-checkpoint`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from kafkadouble.wire.errors import UsageError

from .offset_and_epoch import NO_EPOCH, UNDEFINED, OffsetAndEpoch


class LeaderEpochCache:
    """The leader epochs of one log."""

    __slots__ = ("_epochs", "_starts", "latest")

    def __init__(self, entries: Iterable[OffsetAndEpoch] = ()) -> None:
        self.latest = NO_EPOCH  # the newest epoch, -1 when there is none
        self._epochs: list[int] = []  # strictly ascending
        self._starts: list[int] = []  # strictly ascending
        for entry in entries:
            self.assign(entry.epoch, entry.offset)

    @property
    def entries(self) -> list[OffsetAndEpoch]:
        """Each epoch with the offset at which it starts, oldest first."""
        return [OffsetAndEpoch(start, epoch) for epoch, start in zip(self._epochs, self._starts, strict=True)]

    @property
    def latest_start(self) -> int:
        """The start offset of the newest epoch, or -1 if there is no epoch."""
        return self._starts[-1] if self._starts else -1

    @property
    def earliest(self) -> OffsetAndEpoch:
        """The oldest epoch and its start; UNDEFINED when there is none."""
        return OffsetAndEpoch(self._starts[0], self._epochs[0]) if self._epochs else UNDEFINED

    def assign(self, epoch: int, start: int) -> bool:
        """Starts `epoch` at `start`, and says whether that changed anything. Entries that would no
        longer ascend are dropped."""
        if epoch < 0 or start < 0:
            raise UsageError(f"no leader epoch {epoch} can start at offset {start}")
        if self._epochs and epoch == self._epochs[-1] and start >= self._starts[-1]:
            return False
        while self._epochs and (self._epochs[-1] >= epoch or self._starts[-1] >= start):
            self._epochs.pop()
            self._starts.pop()
        self._epochs.append(epoch)
        self._starts.append(start)
        self.latest = epoch
        return True

    def believe(self, epoch: int, first: int, last: int) -> None:
        """A recovered batch from `first` to `last` has this epoch. Entries that contradict the
        batch are of batches that are lost, and are dropped. Entries that begin after it with the
        same or a later epoch do not contradict it: they begin at the log start offset of their
        time."""
        if self.epoch_for(first) == self.epoch_for(last) == epoch:
            return
        if self._starts and first < self._starts[0] and self._begins_earlier(epoch, first, last):
            return
        while self._epochs and (self._epochs[-1] > epoch or self._starts[-1] > first):
            self._epochs.pop()
            self._starts.pop()
        self.latest = self._epochs[-1] if self._epochs else NO_EPOCH
        self.assign(epoch, first)

    def _begins_earlier(self, epoch: int, first: int, last: int) -> bool:
        """A batch that begins before all entries has this epoch: whether they continue after it."""
        if epoch == self._epochs[0] and self.epoch_for(last) in (NO_EPOCH, epoch):
            self._starts[0] = first
            return True
        if epoch < self._epochs[0] and last < self._starts[0]:
            self._starts.insert(0, first)
            self._epochs.insert(0, epoch)
            return True
        return False

    def end_offset_for(self, epoch: int, log_end_offset: int) -> OffsetAndEpoch:
        """The largest epoch up to `epoch`, and its end offset; UNDEFINED for -1 and for an epoch
        that is newer than all.

        The latest epoch ends at the log end offset, even without a record. An epoch that is older
        than all known ones ends where the first known epoch starts, and keeps its own number.
        """
        if epoch == NO_EPOCH or not self._epochs or epoch > self._epochs[-1]:
            return UNDEFINED
        if epoch == self._epochs[-1]:
            return OffsetAndEpoch(log_end_offset, epoch)
        later = bisect_right(self._epochs, epoch)
        return OffsetAndEpoch(self._starts[later], self._epochs[later - 1] if later else epoch)

    def epoch_for(self, offset: int) -> int:
        """The epoch of `offset`; -1 below the first epoch."""
        index = bisect_right(self._starts, offset)
        return self._epochs[index - 1] if index else NO_EPOCH

    def truncate_from_end(self, end: int) -> None:
        """The log was truncated to `end`: drop the epochs that start there or later."""
        keep = bisect_left(self._starts, end)
        del self._epochs[keep:], self._starts[keep:]
        self.latest = self._epochs[-1] if self._epochs else NO_EPOCH

    def truncate_from_start(self, start: int) -> None:
        """The log start offset is now `start`: the epoch of that offset starts there, and older
        epochs are dropped."""
        dropped = bisect_right(self._starts, start) - 1
        if dropped >= 0:
            self._starts[dropped] = start
            del self._epochs[:dropped], self._starts[:dropped]

    def clear(self) -> None:
        """Drops all entries."""
        self._epochs.clear()
        self._starts.clear()
        self.latest = NO_EPOCH

    def __len__(self) -> int:
        return len(self._epochs)

    def __repr__(self) -> str:
        known = ", ".join(f"{epoch} from {start}" for epoch, start in zip(self._epochs, self._starts, strict=True))
        return f"leader epochs {known or '(none)'}"
