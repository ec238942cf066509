"""What each state does with the passing of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import following, leading, sending, transitions, voting
from .candidate import Candidate
from .follower import Follower
from .leader import Leader
from .prospective import Prospective
from .resigned import Resigned
from .unattached import Unattached

if TYPE_CHECKING:
    from .replica import Replica

_ENOUGH = 20
"""So many changes of state at one time would be a circle."""


def poll(replica: Replica) -> int | None:
    """Do everything that can be done now; when there will be more to do."""
    for _ in range(_ENOUGH):
        before = replica.state
        due = _poll(replica)
        if replica.state is before:
            return due
    return replica.now + 1


def _poll(replica: Replica) -> int | None:
    state = replica.state
    if isinstance(state, Leader):
        return leading.poll(replica, state)
    if isinstance(state, Resigned):
        return leading.poll_resigned(replica, state)
    if _must_stand_alone(replica):
        transitions.to_candidate(replica)
        voting.move_on(replica)
        return replica.now
    if isinstance(state, Follower):
        return following.poll(replica, state)
    if isinstance(state, Unattached):
        return _poll_unattached(replica, state)
    return _poll_standing(replica, state)


def _must_stand_alone(replica: Replica) -> bool:
    """The only voter asks nobody, and waits for nothing."""
    alone = replica.voters.is_only(replica.key) and replica.may_stand
    return alone and replica.shutdown_until is None and not isinstance(replica.state, Candidate)


def _poll_unattached(replica: Replica, state: Unattached) -> int | None:
    if replica.shutdown_until is not None:
        return None
    if replica.may_stand and replica.now >= state.deadline:
        transitions.to_prospective(replica)
        voting.move_on(replica)
        return replica.now
    due = following.look_for_leader(replica)
    return min(due, state.deadline) if replica.may_stand else due


def _poll_standing(replica: Replica, state: Prospective | Candidate) -> int | None:
    """Ask around; when the time is up, a candidate asks anew by way of trial, and who had only asked goes back to where it was."""
    if state.ballot.is_won:
        voting.move_on(replica)
        return replica.now
    if not replica.may_stand and isinstance(state, Prospective):
        transitions.to_unattached(replica, state.epoch, state.leader_id)
        return replica.now
    if replica.now >= state.deadline and replica.shutdown_until is None:
        if isinstance(state, Candidate):
            transitions.to_prospective(replica)
            voting.move_on(replica)
        else:
            voting.give_up(replica, state)
        return replica.now
    voting.ask_for_votes(replica, state)
    peers = [peer for key in state.ballot.unasked if (peer := sending.voter_peer(replica, key.id)) is not None]
    ready = sending.next_ready(replica, peers)
    if replica.shutdown_until is not None:
        return ready
    return state.deadline if ready is None else max(replica.now + 1, min(ready, state.deadline))
