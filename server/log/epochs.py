"""Where each leader's records begin (KIP-101), and so where a leader epoch ends (KIP-279).

A list of (epoch, offset of its first record), ascending in both; an entry may stand at the log's end, for a leader that has written nothing
yet. This file never looks at the log: what it is told of appends and truncations is all it knows. `entries` is what the file
`leader-epoch-checkpoint` holds.
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
        """Where the newest epoch starts, -1 when there is none."""
        return self._starts[-1] if self._starts else -1

    @property
    def earliest(self) -> OffsetAndEpoch:
        """The oldest epoch and its start; UNDEFINED when there is none."""
        return OffsetAndEpoch(self._starts[0], self._epochs[0]) if self._epochs else UNDEFINED

    def assign(self, epoch: int, start: int) -> bool:
        """Say that `epoch` begins at `start`; tells whether anything changed. Entries that could then no longer ascend are dropped."""
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
        """A batch from `first` to `last` says that it is of `epoch`: entries that contradict it were said of other batches, and are dropped."""
        if self.epoch_for(first) == self.epoch_for(last) == epoch:
            return
        while self._epochs and (self._epochs[-1] > epoch or self._starts[-1] > first):
            self._epochs.pop()
            self._starts.pop()
        self.latest = self._epochs[-1] if self._epochs else NO_EPOCH
        self.assign(epoch, first)

    def end_offset_for(self, epoch: int, log_end_offset: int) -> OffsetAndEpoch:
        """The largest epoch up to `epoch`, and where it ends; UNDEFINED for -1 and for epochs yet to come.

        The latest epoch ends at the log's end, even when it has no record. An epoch older than all that are known "ends" where the first
        known one starts, under its own number.
        """
        if epoch == NO_EPOCH or not self._epochs or epoch > self._epochs[-1]:
            return UNDEFINED
        if epoch == self._epochs[-1]:
            return OffsetAndEpoch(log_end_offset, epoch)
        later = bisect_right(self._epochs, epoch)
        return OffsetAndEpoch(self._starts[later], self._epochs[later - 1] if later else epoch)

    def epoch_for(self, offset: int) -> int:
        """The epoch in which `offset` was, or would be, written; -1 below the first."""
        index = bisect_right(self._starts, offset)
        return self._epochs[index - 1] if index else NO_EPOCH

    def truncate_from_end(self, end: int) -> None:
        """The log now ends at `end`: forget the epochs that start there or later."""
        keep = bisect_left(self._starts, end)
        del self._epochs[keep:], self._starts[keep:]
        self.latest = self._epochs[-1] if self._epochs else NO_EPOCH

    def truncate_from_start(self, start: int) -> None:
        """The log now begins at `start`: the epoch in force there starts there, older ones are forgotten."""
        gone = bisect_right(self._starts, start) - 1
        if gone >= 0:
            self._starts[gone] = start
            del self._epochs[:gone], self._starts[:gone]

    def clear(self) -> None:
        """Forget everything."""
        self._epochs.clear()
        self._starts.clear()
        self.latest = NO_EPOCH

    def __len__(self) -> int:
        return len(self._epochs)

    def __repr__(self) -> str:
        known = ", ".join(f"{epoch} from {start}" for epoch, start in zip(self._epochs, self._starts, strict=True))
        return f"leader epochs {known or '(none)'}"
