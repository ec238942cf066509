"""The actions of each state when time passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import elections, leader_actions, transitions
from .candidate_state import CandidateState
from .lazy_import import LazyImport
from .leader_state import LeaderState

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

_MAX_TRANSITIONS = 20
"""More transitions at one time would be a loop."""

POLLS: dict[str, Callable[[RaftReplica, Any], int | None]] = {
    "LeaderState": leader_actions.poll_leader,
    "ResignedState": LazyImport("end_quorum_epoch", "poll"),
    "FollowerState": LazyImport("follower_actions", "poll_follower"),
    "UnattachedState": LazyImport("election_polls", "poll_unattached"),
    "ProspectiveState": LazyImport("election_polls", "poll_voting"),
    "CandidateState": LazyImport("election_polls", "poll_voting"),
}
"""Class of a state -> its poll."""


def poll_state(replica: RaftReplica) -> int | None:
    """Does everything that is due; returns the time of the next poll."""
    for _ in range(_MAX_TRANSITIONS):
        before = replica.state
        due = _poll(replica)
        if replica.state is before:
            return due
    return replica.now + 1


def _poll(replica: RaftReplica) -> int | None:
    if _is_sole_voter_without_epoch(replica):
        transitions.to_candidate(replica)
        elections.check_votes(replica)
        return replica.now
    return POLLS[type(replica.state).__name__](replica, replica.state)


def _is_sole_voter_without_epoch(replica: RaftReplica) -> bool:
    """The only voter needs no other node, and waits for nothing."""
    if isinstance(replica.state, LeaderState) or not replica.voters.is_only(replica.key):
        return False
    return replica.may_stand and replica.shutdown_until is None and not isinstance(replica.state, CandidateState)
