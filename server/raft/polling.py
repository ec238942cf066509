"""What each state does with the passing of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import electing, leading, transitions
from .candidate import Candidate
from .later import Later
from .leader import Leader

if TYPE_CHECKING:
    from .replica import Replica

_ENOUGH = 20
"""So many changes of state at one time would be a circle."""

POLLS: dict[str, Callable[[Replica, Any], int | None]] = {
    "Leader": leading.poll,
    "Resigned": Later("resigning", "poll"),
    "Follower": Later("following", "poll"),
    "Unattached": Later("standing", "poll_unattached"),
    "Prospective": Later("standing", "poll"),
    "Candidate": Later("standing", "poll"),
}
"""Class of a state -> what it does."""


def poll(replica: Replica) -> int | None:
    """Do everything that can be done now; when there will be more to do."""
    for _ in range(_ENOUGH):
        before = replica.state
        due = _poll(replica)
        if replica.state is before:
            return due
    return replica.now + 1


def _poll(replica: Replica) -> int | None:
    if _must_stand_alone(replica):
        transitions.to_candidate(replica)
        electing.move_on(replica)
        return replica.now
    return POLLS[type(replica.state).__name__](replica, replica.state)


def _must_stand_alone(replica: Replica) -> bool:
    """The only voter asks nobody, and waits for nothing."""
    if isinstance(replica.state, Leader) or not replica.voters.is_only(replica.key):
        return False
    return replica.may_stand and replica.shutdown_until is None and not isinstance(replica.state, Candidate)
