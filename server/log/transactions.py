"""The transactions of one log: which are open, where the last stable offset therefore is, and which were aborted (KIP-98).

A reader of committed records stops at the first offset of the oldest transaction that is open, or that ended above the high watermark, since
its marker may yet be lost. Of what lies below, it must skip the aborted ones: `aborted_in` tells them. This file never reads batches.
"""

from bisect import bisect_left
from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple


class AbortedTransaction(NamedTuple):
    """An entry of the transaction index: offsets of its first record and of its ABORT marker, and the last stable offset from then on."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


_last_offset = attrgetter("last_offset")


class Transactions:
    """What is open, what has just ended, what was aborted."""

    __slots__ = ("_aborted", "_open", "ended")

    def __init__(self) -> None:
        self._open: dict[
            int, int
        ] = {}  # producer id -> first offset; begun in offset order, so the first entry is the oldest
        self.ended: dict[
            int, int
        ] = {}  # first offset -> offset of the marker, of those whose marker was not below the high watermark
        self._aborted: list[AbortedTransaction] = []  # by `last_offset`

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of the oldest transaction that is undecided, or decided by a marker that may still be lost."""
        first = next(iter(self._open.values()), None)
        if self.ended:
            ended = min(self.ended)
            return ended if first is None else min(first, ended)
        return first

    @property
    def aborted(self) -> list[AbortedTransaction]:
        """All that the log still holds, in the order of their markers."""
        return list(self._aborted)

    def begin(self, producer_id: int, first_offset: int) -> None:
        self._open[producer_id] = first_offset

    def end(self, producer_id: int, first_offset: int, marker_offset: int, aborted: bool) -> AbortedTransaction | None:
        """Its marker was appended. It stays unstable until the high watermark has passed the marker. One that was aborted is given back."""
        self._open.pop(producer_id, None)
        self.ended[first_offset] = marker_offset
        if not aborted:
            return None
        stable = next(iter(self._open.values()), marker_offset + 1)
        self._aborted.append(AbortedTransaction(producer_id, first_offset, marker_offset, stable))
        return self._aborted[-1]

    def list_again(self, aborted: Iterable[AbortedTransaction]) -> None:
        """These were listed in an earlier life, after those that are."""
        self._aborted += aborted

    def settle(self, offset: int) -> None:
        """Nothing below `offset` can be lost any more: the high watermark, or the log's start, is there."""
        self.ended = {first: marker for first, marker in self.ended.items() if marker >= offset}

    def aborted_in(self, offset: int, upper_bound: int) -> list[AbortedTransaction]:
        """Those that a reader of [offset, upper_bound) must know of."""
        later = self._aborted[bisect_left(self._aborted, offset, key=_last_offset) :]
        return [transaction for transaction in later if transaction.first_offset < upper_bound]

    def forget_below(self, offset: int) -> None:
        """The log begins at `offset` now."""
        del self._aborted[: bisect_left(self._aborted, offset, key=_last_offset)]

    def truncate(self, offset: int) -> None:
        """The log ends at `offset` now; what was open there must be told again."""
        del self._aborted[bisect_left(self._aborted, offset, key=_last_offset) :]
        self._open.clear()
        self.ended.clear()

    def __repr__(self) -> str:
        return f"{len(self._open)} transactions open, {len(self._aborted)} aborted"
