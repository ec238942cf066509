"""What follows when the votes of an election are enough, or cannot be any more (KIP-595, KIP-996)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import leader_actions, transitions
from .candidate_state import CandidateState

if TYPE_CHECKING:
    from .kafka_raft_client import KafkaRaftClient
    from .prospective_state import ProspectiveState


def start_election(replica: KafkaRaftClient) -> int:
    """Ask around for pre-votes; the time at which there is more to do, which is now."""
    transitions.to_prospective(replica)
    check_votes(replica)
    return replica.now


def check_votes(replica: KafkaRaftClient) -> None:
    """An election may be decided now."""
    state = replica.state
    if isinstance(state, CandidateState):
        if state.epoch_election.is_won:
            leader_actions.start_epoch(replica)
        return
    from .prospective_state import ProspectiveState  # a sole voter never asks by way of trial

    if isinstance(state, ProspectiveState) and state.epoch_election.is_won:
        transitions.to_candidate(replica, state.epoch_election.granting)
        check_votes(replica)
    elif isinstance(state, ProspectiveState) and state.epoch_election.is_lost:
        lose_pre_vote(replica, state)


def lose_pre_vote(replica: KafkaRaftClient, state: ProspectiveState) -> None:
    """No majority for an election: back to the leader that was, if there was one; and wait for another timeout."""
    endpoints = state.leader_endpoints
    if state.leader_id is not None and endpoints and state.leader_id != replica.key.id:
        transitions.to_follower(replica, state.epoch, state.leader_id, endpoints)
    else:
        transitions.to_unattached(replica, state.epoch, state.leader_id)
