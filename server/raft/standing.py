"""What a replica does that follows nobody: it looks for a leader, and stands for election when its time has come (KIP-595, KIP-996)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import electing, following, sending, transitions, voting
from .candidate import Candidate
from .prospective import Prospective
from .unattached import Unattached

if TYPE_CHECKING:
    from .replica import Replica


def poll_unattached(replica: Replica, state: Unattached) -> int | None:
    """Wait for a leader, or for the own turn."""
    if replica.shutdown_until is not None:
        return None
    if replica.may_stand and replica.now >= state.deadline:
        return electing.begin(replica)
    due = following.look_for_leader(replica)
    return min(due, state.deadline) if replica.may_stand else due


def poll(replica: Replica, state: Prospective | Candidate) -> int | None:
    """Ask around; when the time is up, a candidate asks anew by way of trial, and who had only asked goes back to where it was."""
    if state.ballot.is_won:
        electing.move_on(replica)
        return replica.now
    if not replica.may_stand and isinstance(state, Prospective):
        transitions.to_unattached(replica, state.epoch, state.leader_id)
        return replica.now
    if replica.now >= state.deadline and replica.shutdown_until is None:
        if isinstance(state, Candidate):
            return electing.begin(replica)
        electing.give_up(replica, state)
        return replica.now
    voting.ask_for_votes(replica, state)
    peers = [peer for key in state.ballot.unasked if (peer := sending.voter_peer(replica, key.id)) is not None]
    ready = sending.next_ready(replica, peers)
    if replica.shutdown_until is not None:
        return ready
    return state.deadline if ready is None else max(replica.now + 1, min(ready, state.deadline))
