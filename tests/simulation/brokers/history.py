"""What was committed in one partition, as a list of records: the truth that logs and consumers are held against.

It grows when a leader's high watermark does, and is cut only where the rules allow a loss: by an election of somebody who did not have
everything (`may_lose`). Whatever a leader of an older epoch still says after that is of a branch that is gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from .kept import Kept


class History:
    """`lost` are the values that were committed once. `epoch`: who led in it was the last that might lack something, -1 for nobody; what
    leaders of older epochs take for committed after that, it need not have."""

    def __init__(self) -> None:
        self.records: list[Kept] = []
        self.lost: set[int] = set()
        self.epoch = -1
        self._loses_from: int | None = None  # an election that allows a loss, whose winner does not lead yet

    @property
    def end(self) -> int:
        return len(self.records)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was ever lost, nor may have been."""
        return self.epoch < 0 and self._loses_from is None

    def is_current(self, leader_epoch: int) -> bool:
        """Whether a leader of this epoch tells the truth."""
        return leader_epoch >= max(self.epoch, -1 if self._loses_from is None else self._loses_from)

    def may_lose(self, leader_epoch: int) -> None:
        """Who was elected in this epoch may not have everything, by the rules."""
        self._loses_from = leader_epoch

    def led(self, leader_epoch: int, log: Sequence[Kept]) -> int | None:
        """Somebody begins to lead, with this log. The first offset that it lacks though it may lack nothing; None when all is well."""
        shared = shared_beginning(self.records, log)
        allowed = self._loses_from is not None and leader_epoch >= self._loses_from
        if allowed:
            self._loses_from, self.epoch = None, leader_epoch
        if shared == self.end or not (allowed or self.is_current(leader_epoch)):
            return None
        if not allowed:
            return shared
        self.lost |= {kept.value for kept in self.records[shared:]}
        del self.records[shared:]
        return None

    def commit(self, log: Sequence[Kept], since: int, upto: int) -> int | None:
        """Everything below `upto` is committed in this log, as was everything below `since`. The first offset at which another record was
        committed before; None when all is well."""
        since = min(since, self.end)
        for kept in log[since:upto]:
            if kept.offset == self.end:
                self.records.append(kept)
            elif self.records[kept.offset] != kept:
                return kept.offset
        return None

    def at(self, offset: int) -> Kept | None:
        return self.records[offset] if 0 <= offset < self.end else None


def shared_beginning(one: Sequence[Kept], other: Sequence[Kept]) -> int:
    """So many records are the same in both."""
    if one[: len(other)] == other[: len(one)]:
        return min(len(one), len(other))
    return next(at for at, (here, there) in enumerate(zip(one, other, strict=False)) if here != there)
