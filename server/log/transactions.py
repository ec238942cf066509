"""The transactions of one log: which are open, which were aborted, and where the last stable offset
is (KIP-98).

A read_committed consumer stops at the first offset of the oldest transaction that is open, or that
ended above the high watermark, because that marker may still be lost. Below this offset it skips
the aborted transactions; `aborted_in` lists them. This file never reads batches.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple


class AbortedTransaction(NamedTuple):
    """An entry of the transaction index: the offsets of the first record and of the ABORT marker,
    and the last stable offset after the marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


_last_offset, _last_stable_offset = attrgetter("last_offset"), attrgetter("last_stable_offset")


class Transactions:
    """The open, the ended and the aborted transactions of one log."""

    __slots__ = ("_aborted", "_open", "ended")

    def __init__(self) -> None:
        # producer id -> first offset; they begin in offset order, so the first entry is the oldest
        self._open: dict[int, int] = {}
        # first offset -> offset of the marker, while the marker is not below the high watermark
        self.ended: dict[int, int] = {}
        # ascending in `last_offset`, and in `last_stable_offset`, which may repeat
        self._aborted: list[AbortedTransaction] = []

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of the oldest transaction that is open, or whose marker may still be
        lost."""
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
        """The marker of a transaction was appended. The transaction stays unstable until the high
        watermark has passed the marker. Returns it if it was aborted."""
        self._open.pop(producer_id, None)
        self.ended[first_offset] = marker_offset
        if not aborted:
            return None
        stable = next(iter(self._open.values()), marker_offset + 1)
        self._aborted.append(AbortedTransaction(producer_id, first_offset, marker_offset, stable))
        return self._aborted[-1]

    def list_again(self, aborted: Iterable[AbortedTransaction]) -> None:
        """Appends transactions to the list that were found in the files of the log."""
        self._aborted += aborted

    def list_instead(self, first: int, end: int, aborted: Iterable[AbortedTransaction]) -> None:
        """Lists these in place of those whose markers are in [first, end): the segments there were
        rewritten, and these are left in them."""
        start = bisect_left(self._aborted, first, key=_last_offset)
        self._aborted[start : bisect_left(self._aborted, end, start, key=_last_offset)] = aborted

    def forget(self, producer_id: int) -> None:
        """The producer has no open transaction."""
        self._open.pop(producer_id, None)

    def settle(self, offset: int) -> None:
        """Nothing below `offset` can be lost any more: the high watermark or the log start offset
        is there."""
        self.ended = {first: marker for first, marker in self.ended.items() if marker >= offset}

    def has_aborted_from(self, offset: int) -> bool:
        """Whether a transaction was aborted by a marker at or above `offset`."""
        return bool(self._aborted) and self._aborted[-1].last_offset >= offset

    def aborted_in(self, offset: int, upper_bound: int) -> list[AbortedTransaction]:
        """The aborted transactions that a reader of [offset, upper_bound) needs.

        A transaction that ends later than an entry has no offset below the last stable offset of
        that entry. So the first entry whose last stable offset is not below `upper_bound` is the
        last that can be needed."""
        aborted = self._aborted
        first = bisect_left(aborted, offset, key=_last_offset)
        end = bisect_left(aborted, upper_bound, first, key=_last_stable_offset) + 1
        return [transaction for transaction in aborted[first:end] if transaction.first_offset < upper_bound]

    def copy(self) -> Transactions:
        """The same transactions, which change on their own."""
        made = Transactions()
        made._open, made.ended, made._aborted = dict(self._open), dict(self.ended), list(self._aborted)
        return made

    def forget_below(self, offset: int) -> None:
        """The log begins at `offset` now."""
        del self._aborted[: bisect_left(self._aborted, offset, key=_last_offset)]

    def truncate(self, offset: int) -> None:
        """The log ends at `offset` now. Open transactions are forgotten, and `restore` brings them
        back. Those that ended stay unstable: a snapshot of the producers does not have them."""
        del self._aborted[bisect_left(self._aborted, offset, key=_last_offset) :]
        self._open.clear()
        self.ended = {first: marker for first, marker in self.ended.items() if marker < offset}

    def __repr__(self) -> str:
        return f"{len(self._open)} transactions open, {len(self._aborted)} aborted"
