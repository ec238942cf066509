"""The records of one share partition that are in flight, as a pure state machine (KIP-932).

    archived or acknowledged | in flight, from start_offset to end_offset | not read yet

Rules. Batches are ordered by their first offset and do not overlap. `start_offset` is the first
offset that is not done; everything below it never comes again. `end_offset` is the last offset in
flight; if nothing is in flight, it is the next offset to read, as `start_offset`. `acquisition`,
`acknowledgement` and `start_offset_movement` are the operations on this state. They know no timers
and no IO: they are given `now` (ms), and return what the share coordinator must be sent.

The stored state may have gaps between its batches: records that were never delivered, because their
leader resigned before. The gap window remembers up to where the gaps are known to be filled.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator

from .in_flight_batch import InFlightBatch
from .in_flight_state import InFlightState
from .persister import PersisterStateBatch
from .record_state import RecordState


class GapWindow:
    """The gaps among the batches that the share coordinator kept: none is before `start`.

    The window is over as soon as the share partition's end offset is another than `end`.
    """

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


class InFlightRecords:
    """The state of the records in flight; `start_offset` and `end_offset` are as above."""

    def __init__(self, start_offset: int, batches: Iterable[PersisterStateBatch] = ()) -> None:
        """Begins with what the share coordinator kept. ValueError if that makes no sense."""
        self.start_offset = self.end_offset = start_offset
        self.gap_window: GapWindow | None = None
        self._batches: dict[int, InFlightBatch] = {}
        self._order: list[int] = []
        # Whether records below the end offset may be available.
        self._has_available = False
        next_offset, gap = start_offset, None
        for kept in batches:
            if kept.first_offset < next_offset or kept.last_offset < kept.first_offset:
                raise ValueError(f"{kept} in a share partition that goes on at {next_offset}")
            if gap is None and kept.first_offset > next_offset:
                gap = next_offset
            state = InFlightState(
                kept.first_offset, kept.last_offset, RecordState(kept.delivery_state), kept.delivery_count
            )
            self.add(InFlightBatch((state,)))
            next_offset = kept.last_offset + 1
        if self._order:
            self._has_available, self.end_offset = True, next_offset - 1
            self.gap_window = None if gap is None else GapWindow(gap, self.end_offset)

    @property
    def is_empty(self) -> bool:
        return not self._order

    @property
    def count(self) -> int:
        """The number of offsets in flight, whatever their state."""
        return self.end_offset - self.start_offset + 1 if self._order else 0

    @property
    def first_key(self) -> int:
        """The first offset of the first batch; -1 if there is none."""
        return self._order[0] if self._order else -1

    @property
    def last_offset(self) -> int:
        """The last offset of the last batch; -1 if there is none."""
        return self._batches[self._order[-1]].last_offset if self._order else -1

    @property
    def delivery_complete_count(self) -> int:
        """The number of records from the start offset on that are never delivered again."""
        first = self.start_offset
        return sum(
            state.last_offset - max(state.first_offset, first) + 1
            for batch in self
            for state in batch.states
            if state.state.is_terminal and state.last_offset >= first
        )

    def __iter__(self) -> Iterator[InFlightBatch]:
        """The batches, in the order of their offsets. Meanwhile batches may be added or removed."""
        return iter([self._batches[first] for first in self._order])

    def add(self, batch: InFlightBatch) -> None:
        """Adds a batch between, or after, the others."""
        self._batches[batch.first_offset] = batch
        insort(self._order, batch.first_offset)

    def floor(self, offset: int) -> InFlightBatch | None:
        """The last batch that begins at or before `offset`."""
        position = bisect_right(self._order, offset)
        return self._batches[self._order[position - 1]] if position else None

    def higher_key(self, offset: int) -> int:
        """The first offset of the first batch that begins after `offset`; there is one."""
        return self._order[bisect_right(self._order, offset)]

    def beginning_between(self, first_offset: int, last_offset: int) -> list[InFlightBatch]:
        """The batches whose first offset is in this range."""
        start, end = bisect_left(self._order, first_offset), bisect_right(self._order, last_offset)
        return [self._batches[first] for first in self._order[start:end]]

    def remove_before(self, first_offset: int) -> None:
        """Removes the batches that begin before this offset."""
        position = bisect_left(self._order, first_offset)
        for key in self._order[:position]:
            del self._batches[key]
        del self._order[:position]

    def clear(self, next_offset: int) -> None:
        """Everything is done: go on at `next_offset`."""
        self._batches.clear()
        self._order.clear()
        self.start_offset = self.end_offset = next_offset

    # The gaps that the share coordinator had.

    @property
    def open_gap(self) -> GapWindow | None:
        """The gap window, if there may be gaps still."""
        window = self.gap_window
        return window if window is not None and window.end == self.end_offset else None

    def fill_gaps(self, offset: int) -> None:
        """There are no more gaps before `offset`."""
        window = self.open_gap
        if window is not None and offset <= window.end:
            window.start = offset
        else:
            self.gap_window = None

    # What may be delivered next.

    def mark_available(self) -> None:
        """Records below the end offset have become available, or others before them are done."""
        self._has_available = True

    @property
    def next_fetch_offset(self) -> int:
        """The first offset that a member may acquire: available, in a gap, or not read yet."""
        is_done = not self._order or self.start_offset > self.last_offset
        if not self._has_available or is_done:
            self._has_available = False
            return self.end_offset if is_done else self.end_offset + 1
        found = self._first_available()
        if found is None:
            self._has_available = False
            return self.end_offset + 1
        return found

    def _first_available(self) -> int | None:
        gap = self.open_gap
        filled_to = -1 if gap is None else gap.start
        for batch in self:
            if gap is not None:
                if batch.first_offset > filled_to:
                    return filled_to
                filled_to = max(batch.last_offset + 1, filled_to)
            for state in batch.states:
                if state.is_acquirable:
                    return state.first_offset
        return None

    def can_acquire(self, max_in_flight: int) -> bool:
        """Whether a member may acquire records now: there is room, or some were released."""
        return self.next_fetch_offset != self.end_offset + 1 or self.count < max_in_flight

    # Acquisition locks.

    def next_lock_deadline(self, now: int) -> int | None:
        """When the next acquisition lock times out (ms), after `now`.

        A lock that timed out while its records were being written is due when the write ends.
        """
        deadlines = [
            state.lock_deadline
            for batch in self
            for state in batch.states
            if state.lock_deadline is not None and (state.transition is None or state.lock_deadline > now)
        ]
        return min(deadlines, default=None)

    def __repr__(self) -> str:
        return f"records in flight from {self.start_offset} to {self.end_offset} in {len(self._order)} batches"
