"""The records that were committed in one partition, in order: logs and consumers are compared with
this history.

It grows with a leader's high watermark, and is truncated only where the rules allow a loss: by the
election of a leader that did not have every record (`may_lose`). After that, the high watermark of
a leader of an older epoch belongs to an abandoned branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from .kept import Kept


class History:
    """`lost` are the values that were committed once. `epoch` is the last epoch whose leader was
    allowed to lack records, -1 for none; that leader need not have what leaders of older epochs
    commit afterwards."""

    def __init__(self) -> None:
        self.records: list[Kept] = []
        self.lost: set[int] = set()
        self.epoch = -1
        # The epoch of an election that allows a loss, whose winner does not lead yet.
        self._loses_from: int | None = None

    @property
    def end(self) -> int:
        return len(self.records)

    @property
    def is_whole(self) -> bool:
        """Whether no record was ever lost, nor may have been."""
        return self.epoch < 0 and self._loses_from is None

    @property
    def is_intact(self) -> bool:
        """Whether no record was lost, and none may be lost at present."""
        return not self.lost and self._loses_from is None

    def is_current(self, leader_epoch: int) -> bool:
        """Whether the high watermark of a leader of this epoch is valid."""
        return leader_epoch >= max(self.epoch, -1 if self._loses_from is None else self._loses_from)

    def may_lose(self, leader_epoch: int) -> None:
        """The leader elected in this epoch may lack committed records, by the rules."""
        self._loses_from = leader_epoch

    def led(self, leader_epoch: int, log: Sequence[Kept]) -> int | None:
        """A broker begins to lead with this log. Returns the first offset that it lacks without
        permission; None if there is none. A leader of the past, which learns late of its election,
        lacks what its successors have committed."""
        shared = shared_beginning(self.records, log)
        allowed = self._loses_from is not None and leader_epoch >= self._loses_from
        if allowed:
            self._loses_from, self.epoch = None, leader_epoch
        if shared == self.end or not (allowed or self.is_current(leader_epoch)):
            return None
        if not allowed:
            return shared if self.records[shared].epoch <= leader_epoch else None
        self.lost |= {kept.value for kept in self.records[shared:]}
        del self.records[shared:]
        return None

    def commit(self, log: Sequence[Kept], since: int, upto: int) -> int | None:
        """Everything below `upto` is committed in this log, as was everything below `since`.
        Returns the first offset at which another record was committed before; None if there is
        none."""
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
    """The number of records at the beginning that are the same in both."""
    if one[: len(other)] == other[: len(one)]:
        return min(len(one), len(other))
    return next(at for at, (here, there) in enumerate(zip(one, other, strict=False)) if here != there)
