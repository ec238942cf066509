"""The state of a range of offsets that are in flight together: state, owner, delivery count, lock.

Kafka keeps one such state for a whole batch, or one for each offset of it. Here a state covers a
range, and is split only where its offsets begin to differ.

A state changes at once (`try_update`), or as a transition that is first written to the share
coordinator (`start_transition`): the new state counts from the start, and `complete` confirms it or
takes it back. No other change is possible in between, except that `archive` ends the record for
good. All times are ms; nothing here has a clock.
"""

from __future__ import annotations

from .record_state import ACQUIRED, ARCHIVED, ARCHIVING, AVAILABLE, TRANSITIONS, RecordState

NO_MEMBER = ""
"""The owner of records that are not acquired."""


class StateTransition:
    """A state change that is being written, and what it takes to undo it.

    It covers several states when a state was split meanwhile.
    """

    __slots__ = ("_delivery_limit", "_member_id", "_state", "states")

    def __init__(self, state: InFlightState, delivery_limit: int) -> None:
        self._state, self._member_id, self._delivery_limit = state.state, state.member_id, delivery_limit
        self.states: list[InFlightState] = [state]

    def complete(self, *, committed: bool, now: int) -> None:
        """Ends the transition. One that is not committed is undone, unless the record was archived.

        If the acquisition lock timed out meanwhile, the record is released instead.
        """
        for state in self.states:
            state.transition = None
            if committed or state.is_archived:
                state.lock_deadline = None
            elif state.lock_deadline is not None and state.lock_deadline <= now:
                is_over = state.delivery_count >= self._delivery_limit
                state.state, state.member_id = ARCHIVED if is_over else AVAILABLE, NO_MEMBER
                state.lock_deadline = None
            else:
                state.state, state.member_id = self._state, self._member_id


class InFlightState:
    """The offsets from `first_offset` to `last_offset`, and the state that they share.

    `delivery_count` is how often the records were delivered. `lock_deadline` (ms) is when the lock
    of the member that acquired them times out. `is_archived` says that `archive` ended them.
    """

    __slots__ = (
        "delivery_count",
        "first_offset",
        "is_archived",
        "last_offset",
        "lock_deadline",
        "member_id",
        "state",
        "transition",
    )

    def __init__(
        self,
        first_offset: int,
        last_offset: int,
        state: RecordState,
        delivery_count: int,
        member_id: str = NO_MEMBER,
        lock_deadline: int | None = None,
    ) -> None:
        self.first_offset, self.last_offset = first_offset, last_offset
        self.state, self.delivery_count = state, delivery_count
        self.member_id, self.lock_deadline = member_id, lock_deadline
        self.transition: StateTransition | None = None
        self.is_archived = False

    @property
    def count(self) -> int:
        """The number of offsets."""
        return self.last_offset - self.first_offset + 1

    @property
    def is_acquirable(self) -> bool:
        """Whether a member may acquire the records now."""
        return self.state is AVAILABLE and self.transition is None

    @property
    def is_done(self) -> bool:
        """Whether the records are in a terminal state that is written, or needs no write."""
        return self.state.is_terminal and self.transition is None

    def is_timed_out(self, now: int) -> bool:
        """Whether the records are acquired, and their lock has timed out."""
        return self.state is ACQUIRED and self.lock_deadline is not None and self.lock_deadline <= now

    def split(self, offset: int) -> InFlightState:
        """Gives the offsets from `offset` on a state of their own, and returns it."""
        rest = InFlightState(
            offset, self.last_offset, self.state, self.delivery_count, self.member_id, self.lock_deadline
        )
        rest.is_archived, rest.transition = self.is_archived, self.transition
        if self.transition is not None:
            self.transition.states.append(rest)
        self.last_offset = offset - 1
        return rest

    def acquire(self, member_id: str, lock_deadline: int) -> None:
        """Delivers the records, which are acquirable, once more."""
        self.try_update(RecordState.ACQUIRED, 0, has_dlq=False, member_id=member_id)
        self.delivery_count += 1
        self.lock_deadline = lock_deadline

    def try_update(self, state: RecordState, delivery_limit: int, *, has_dlq: bool, member_id: str = NO_MEMBER) -> bool:
        """Changes the state at once; returns False, and changes nothing, if that is not allowed.

        A record that was delivered `delivery_limit` times is archived instead of released.
        """
        if state is AVAILABLE and self.delivery_count >= delivery_limit:
            state = ARCHIVING if has_dlq else ARCHIVED
        if self.transition is not None or state not in TRANSITIONS[self.state]:
            return False
        self.state, self.member_id = state, member_id
        return True

    def start_transition(self, state: RecordState, delivery_limit: int, *, has_dlq: bool) -> StateTransition | None:
        """Does the same, for a change that is written first; None if that is not allowed."""
        started = StateTransition(self, delivery_limit)
        if not self.try_update(state, delivery_limit, has_dlq=has_dlq):
            return None
        self.transition = started
        return started

    def archive(self) -> None:
        """Ends the records, also while a transition is under way."""
        self.is_archived = True
        self.state, self.member_id, self.lock_deadline = ARCHIVED, NO_MEMBER, None

    def __repr__(self) -> str:
        pending = ", being written" if self.transition is not None else ""
        owner = f" by {self.member_id}" if self.member_id else ""
        return (
            f"{self.first_offset}-{self.last_offset} {self.state.name}{owner}, delivered {self.delivery_count}{pending}"
        )
