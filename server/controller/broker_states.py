"""The states of a broker's life as its heartbeats move it: fenced, unfenced, in controlled shutdown, gone (KIP-631, KIP-841).

A table: what comes next goes by the state, by what the broker wants, and by few facts. This file looks at no image and makes no record.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple


class State(Enum):
    """`SHUT_DOWN_NOW` is what a broker is told once; from then on it counts as fenced."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "in controlled shutdown"
    SHUT_DOWN_NOW = "to shut down now"

    @property
    def fenced(self) -> bool:
        return self in (State.FENCED, State.SHUT_DOWN_NOW)


class Wish(NamedTuple):
    """What a broker wants, and how things are. `leads`: whether it leads a partition still; `others_know`: whether the active brokers have
    read that it leaves. Both are asked only when they matter, since they look at every partition, or every broker."""

    fence: bool
    shut_down: bool
    caught_up: bool
    leads: Callable[[], bool]
    others_know: Callable[[], bool]


def next_state(current: State, wish: Wish) -> State:
    """The state after a heartbeat."""
    return NEXT[current](wish)


def _after_fenced(wish: Wish) -> State:
    if wish.shut_down:
        return State.SHUT_DOWN_NOW
    return State.UNFENCED if wish.caught_up and not wish.fence else State.FENCED


def _after_unfenced(wish: Wish) -> State:
    if wish.shut_down:
        return State.CONTROLLED_SHUTDOWN if not wish.fence and wish.leads() else State.SHUT_DOWN_NOW
    return State.FENCED if wish.fence else State.UNFENCED


def _after_controlled_shutdown(wish: Wish) -> State:
    return State.SHUT_DOWN_NOW if not wish.leads() and wish.others_know() else State.CONTROLLED_SHUTDOWN


NEXT: dict[State, Callable[[Wish], State]] = {
    State.FENCED: _after_fenced,
    State.UNFENCED: _after_unfenced,
    State.CONTROLLED_SHUTDOWN: _after_controlled_shutdown,
    State.SHUT_DOWN_NOW: lambda wish: State.SHUT_DOWN_NOW,
}
