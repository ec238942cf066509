"""A batch of records in flight: one state for all its offsets, or several once it is split.

Batches decide what is acquired together: an available batch that is not split is acquired whole,
and the offsets of a split batch are acquired one by one (KIP-932).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter

from .in_flight_state import InFlightState

_first_offset = attrgetter("first_offset")


class InFlightBatch:
    """A batch as it was acquired first, or as the share coordinator had it.

    `states` are in the order of their offsets. `is_split` says that its offsets are tracked one by
    one (in Kafka: `offsetState` is set); before that there is exactly one state.
    """

    __slots__ = ("first_offset", "is_split", "last_offset", "states")

    def __init__(self, states: Sequence[InFlightState], *, is_split: bool = False) -> None:
        self.states = list(states)
        self.first_offset, self.last_offset = states[0].first_offset, states[-1].last_offset
        self.is_split = is_split

    @property
    def count(self) -> int:
        """The number of offsets."""
        return self.last_offset - self.first_offset + 1

    @property
    def whole(self) -> InFlightState:
        """The state of a batch that is not split."""
        return self.states[0]

    def is_within(self, first_offset: int, last_offset: int) -> bool:
        """Whether every offset of the batch is in this range."""
        return self.first_offset >= first_offset and self.last_offset <= last_offset

    def is_cut_by(self, offset: int) -> bool:
        """Whether `offset` is in the batch, but not its first one."""
        return self.first_offset < offset <= self.last_offset

    def state_at(self, offset: int) -> InFlightState | None:
        """The state of this offset; None if it is not in the batch."""
        in_batch = self.first_offset <= offset <= self.last_offset
        return self.states[self._position(offset)] if in_batch else None

    def between(self, first_offset: int, last_offset: int) -> list[InFlightState]:
        """The states of exactly the offsets in this range; the batch is split from now on."""
        self.is_split = True
        start = self._split(first_offset)
        return self.states[start : self._split(last_offset + 1)]

    def _position(self, offset: int) -> int:
        return max(0, bisect_right(self.states, offset, key=_first_offset) - 1)

    def _split(self, offset: int) -> int:
        """Splits the state that holds `offset` there. Returns the position of the first state at or
        after `offset`."""
        position = self._position(offset)
        state = self.states[position]
        if offset <= state.first_offset:
            return position
        if offset <= state.last_offset:
            self.states.insert(position + 1, state.split(offset))
        return position + 1

    def __repr__(self) -> str:
        return f"batch {self.first_offset}-{self.last_offset}: {self.states}"
