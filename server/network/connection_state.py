"""The states of one connection, and the events that move it from one state to the next.

Rules.
- A connection has at most one request under way, as in Kafka: `WAITING`.
- A throttled connection begins no request until its time is over, as a channel that Kafka mutes:
  `MUTED` (KIP-124).
- A peer that does not read its answers gets no further ones: `CHOKED`.
- These three conditions are independent of one another. A connection that is in none of them is
  `OPEN`, and only an `OPEN` connection begins a request.
- `CLOSING`: the server has ended the connection, and what was written is still sent. `CLOSED`: the
  socket is gone. Neither is ever left again, and what comes late changes nothing.

The states are products (`WAITING_MUTED` is a state of its own), as in Kafka's `ChannelMuteState`,
and not three small machines side by side: the rule that matters most, when a request may begin, is
then one column of the table, and the check on the way of every request is one comparison. A new
condition doubles the number of open states; if there is ever a fourth one, three machines are
better.

Memory that is held back (`memory_pool.py`) is no state: it stops reading, and never a request.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kafkadouble.wire.errors import UsageError


class State(StrEnum):
    """The states of a connection."""

    OPEN = "open"
    WAITING = "waiting"
    MUTED = "muted"
    CHOKED = "choked"
    WAITING_MUTED = "waiting, muted"
    WAITING_CHOKED = "waiting, choked"
    MUTED_CHOKED = "muted, choked"
    WAITING_MUTED_CHOKED = "waiting, muted, choked"
    CLOSING = "closing"
    CLOSED = "closed"


class Event(StrEnum):
    """The events of a connection."""

    REQUEST_BEGUN = "a request is handed to the node"
    REQUEST_DONE = "the request is answered, or will have no answer"
    THROTTLE_STARTED = "the connection is muted until a time"
    THROTTLE_ENDED = "that time has come"
    PEER_SLOW = "the peer leaves much unread"
    PEER_DRAINED = "the peer has read everything"
    ENDED = "the server ends the connection"
    LOST = "the socket is gone"


OPEN: Final = State.OPEN
WAITING: Final = State.WAITING
MUTED: Final = State.MUTED
CHOKED: Final = State.CHOKED
WAITING_MUTED: Final = State.WAITING_MUTED
WAITING_CHOKED: Final = State.WAITING_CHOKED
MUTED_CHOKED: Final = State.MUTED_CHOKED
WAITING_MUTED_CHOKED: Final = State.WAITING_MUTED_CHOKED
CLOSING: Final = State.CLOSING
CLOSED: Final = State.CLOSED

REQUEST_BEGUN: Final = Event.REQUEST_BEGUN
REQUEST_DONE: Final = Event.REQUEST_DONE
THROTTLE_STARTED: Final = Event.THROTTLE_STARTED
THROTTLE_ENDED: Final = Event.THROTTLE_ENDED
PEER_SLOW: Final = Event.PEER_SLOW
PEER_DRAINED: Final = Event.PEER_DRAINED
ENDED: Final = Event.ENDED
LOST: Final = Event.LOST

IMPOSSIBLE: Final = None
"""The event cannot happen in this state. If it does, the caller is wrong, and not the peer."""

OVER: Final = (CLOSING, CLOSED)
"""The states in which nothing is read, and no answer is sent."""

TRANSITIONS: Final[dict[State, dict[Event, State | None]]] = {
    OPEN: {
        REQUEST_BEGUN: WAITING,
        REQUEST_DONE: IMPOSSIBLE,
        THROTTLE_STARTED: MUTED,
        THROTTLE_ENDED: IMPOSSIBLE,
        PEER_SLOW: CHOKED,
        PEER_DRAINED: OPEN,
        ENDED: CLOSING,
        LOST: CLOSED,
    },
    WAITING: {
        REQUEST_BEGUN: IMPOSSIBLE,
        REQUEST_DONE: OPEN,
        THROTTLE_STARTED: WAITING_MUTED,
        THROTTLE_ENDED: IMPOSSIBLE,
        PEER_SLOW: WAITING_CHOKED,
        PEER_DRAINED: WAITING,
        ENDED: CLOSING,
        LOST: CLOSED,
    },
    MUTED: {
        REQUEST_BEGUN: IMPOSSIBLE,
        REQUEST_DONE: IMPOSSIBLE,
        THROTTLE_STARTED: MUTED,
        THROTTLE_ENDED: OPEN,
        PEER_SLOW: MUTED_CHOKED,
        PEER_DRAINED: MUTED,
        ENDED: CLOSING,
        LOST: CLOSED,
    },
    CHOKED: {
        REQUEST_BEGUN: IMPOSSIBLE,
        REQUEST_DONE: IMPOSSIBLE,
        THROTTLE_STARTED: MUTED_CHOKED,
        THROTTLE_ENDED: IMPOSSIBLE,
        PEER_SLOW: CHOKED,
        PEER_DRAINED: OPEN,
        ENDED: CLOSING,
        LOST: CLOSED,
    },
    WAITING_MUTED: {
        REQUEST_BEGUN: IMPOSSIBLE,
        REQUEST_DONE: MUTED,
        THROTTLE_STARTED: WAITING_MUTED,
        THROTTLE_ENDED: WAITING,
        PEER_SLOW: WAITING_MUTED_CHOKED,
        PEER_DRAINED: WAITING_MUTED,
        ENDED: CLOSING,
        LOST: CLOSED,
    },
    WAITING_CHOKED: {
        REQUEST_BEGUN: IMPOSSIBLE,
        REQUEST_DONE: CHOKED,
        THROTTLE_STARTED: WAITING_MUTED_CHOKED,
        THROTTLE_ENDED: IMPOSSIBLE,
        PEER_SLOW: WAITING_CHOKED,
        PEER_DRAINED: WAITING,
        ENDED: CLOSING,
        LOST: CLOSED,
    },
    MUTED_CHOKED: {
        REQUEST_BEGUN: IMPOSSIBLE,
        REQUEST_DONE: IMPOSSIBLE,
        THROTTLE_STARTED: MUTED_CHOKED,
        THROTTLE_ENDED: CHOKED,
        PEER_SLOW: MUTED_CHOKED,
        PEER_DRAINED: MUTED,
        ENDED: CLOSING,
        LOST: CLOSED,
    },
    WAITING_MUTED_CHOKED: {
        REQUEST_BEGUN: IMPOSSIBLE,
        REQUEST_DONE: MUTED_CHOKED,
        THROTTLE_STARTED: WAITING_MUTED_CHOKED,
        THROTTLE_ENDED: WAITING_CHOKED,
        PEER_SLOW: WAITING_MUTED_CHOKED,
        PEER_DRAINED: WAITING_MUTED,
        ENDED: CLOSING,
        LOST: CLOSED,
    },
    CLOSING: {
        REQUEST_BEGUN: IMPOSSIBLE,
        REQUEST_DONE: CLOSING,
        THROTTLE_STARTED: CLOSING,
        THROTTLE_ENDED: CLOSING,
        PEER_SLOW: CLOSING,
        PEER_DRAINED: CLOSING,
        ENDED: CLOSING,
        LOST: CLOSED,
    },
    CLOSED: {
        REQUEST_BEGUN: IMPOSSIBLE,
        REQUEST_DONE: CLOSED,
        THROTTLE_STARTED: CLOSED,
        THROTTLE_ENDED: CLOSED,
        PEER_SLOW: CLOSED,
        PEER_DRAINED: CLOSED,
        ENDED: CLOSED,
        LOST: CLOSED,
    },
}
"""The next state, by state and event. Every pair is here."""


class _NextStates(dict[Event, State]):
    """The possible events of one state; an impossible one is a UsageError."""

    def __init__(self, state: State, row: dict[Event, State | None]) -> None:
        super().__init__({event: found for event, found in row.items() if found is not None})
        self._state = state

    def __missing__(self, event: Event) -> State:
        raise UsageError(f"a connection that is {self._state} cannot see that {event}")


NEXT: Final = {state: _NextStates(state, row) for state, row in TRANSITIONS.items()}
"""The table for the way of every request: `NEXT[state][event]`, without a call."""
