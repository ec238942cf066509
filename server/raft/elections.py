"""Starts elections, and ends them when the votes decide (KIP-595, KIP-996)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import leader_actions, transitions
from .candidate_state import CandidateState

if TYPE_CHECKING:
    from .prospective_state import ProspectiveState
    from .raft_replica import RaftReplica


def start_election(replica: RaftReplica) -> int:
    """Becomes prospective and requests pre-votes; returns the time of the next poll, which is
    now.
    """
    transitions.to_prospective(replica)
    check_votes(replica)
    return replica.now


def check_votes(replica: RaftReplica) -> None:
    """Continues if the votes decide the election."""
    state = replica.state
    if isinstance(state, CandidateState):
        if state.epoch_election.is_won:
            leader_actions.start_epoch(replica)
        return
    from .prospective_state import ProspectiveState  # a sole voter needs no pre-vote

    if isinstance(state, ProspectiveState) and state.epoch_election.is_won:
        transitions.to_candidate(replica, state.epoch_election.granting)
        check_votes(replica)
    elif isinstance(state, ProspectiveState) and state.epoch_election.is_lost:
        lose_pre_vote(replica, state)


def lose_pre_vote(replica: RaftReplica, state: ProspectiveState) -> None:
    """Without a majority of pre-votes: returns to the last leader, if there was one, and waits for
    another timeout.
    """
    endpoints = state.leader_endpoints
    if state.leader_id is not None and endpoints and state.leader_id != replica.key.id:
        transitions.to_follower(replica, state.epoch, state.leader_id, endpoints)
    else:
        transitions.to_unattached(replica, state.epoch, state.leader_id)
