"""A replica without a leader: it looks for a leader, and requests votes when its timeout expires
(KIP-595, KIP-996).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import elections, follower_actions, routing, transitions, vote
from .candidate_state import CandidateState
from .prospective_state import ProspectiveState
from .unattached_state import UnattachedState

if TYPE_CHECKING:
    from .raft_replica import RaftReplica


def poll_unattached(replica: RaftReplica, state: UnattachedState) -> int | None:
    """Looks for a leader until the election timeout."""
    if replica.shutdown_until is not None:
        return None
    if replica.may_stand and replica.now >= state.deadline:
        return elections.start_election(replica)
    due = follower_actions.fetch_from_any(replica)
    return min(due, state.deadline) if replica.may_stand else due


def poll_voting(replica: RaftReplica, state: ProspectiveState | CandidateState) -> int | None:
    """Requests votes. After the timeout a candidate requests pre-votes again, and a prospective
    voter returns to its former state.
    """
    if state.epoch_election.is_won:
        elections.check_votes(replica)
        return replica.now
    if not replica.may_stand and isinstance(state, ProspectiveState):
        transitions.to_unattached(replica, state.epoch, state.leader_id)
        return replica.now
    if replica.now >= state.deadline and replica.shutdown_until is None:
        if isinstance(state, CandidateState):
            return elections.start_election(replica)
        elections.lose_pre_vote(replica, state)
        return replica.now
    vote.send_vote_requests(replica, state)
    peers = [peer for key in state.epoch_election.unasked if (peer := routing.voter_peer(replica, key.id)) is not None]
    ready = routing.next_ready_at(replica, peers)
    if replica.shutdown_until is not None:
        return ready
    return state.deadline if ready is None else max(replica.now + 1, min(ready, state.deadline))
