"""What follows when the votes of an election are enough, or cannot be any more (KIP-595, KIP-996)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import leading, transitions
from .candidate import Candidate

if TYPE_CHECKING:
    from .prospective import Prospective
    from .replica import Replica


def begin(replica: Replica) -> int:
    """Ask around for pre-votes; the time at which there is more to do, which is now."""
    transitions.to_prospective(replica)
    move_on(replica)
    return replica.now


def move_on(replica: Replica) -> None:
    """An election may be decided now."""
    state = replica.state
    if isinstance(state, Candidate):
        if state.ballot.is_won:
            leading.begin(replica)
        return
    from .prospective import Prospective  # a sole voter never asks by way of trial

    if isinstance(state, Prospective) and state.ballot.is_won:
        transitions.to_candidate(replica, state.ballot.granting)
        move_on(replica)
    elif isinstance(state, Prospective) and state.ballot.is_lost:
        give_up(replica, state)


def give_up(replica: Replica, state: Prospective) -> None:
    """No majority for an election: back to the leader that was, if there was one; and wait for another timeout."""
    endpoints = state.leader_endpoints
    if state.leader_id is not None and endpoints and state.leader_id != replica.key.id:
        transitions.to_follower(replica, state.epoch, state.leader_id, endpoints)
    else:
        transitions.to_unattached(replica, state.epoch, state.leader_id)
