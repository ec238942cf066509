"""Unattached: a replica without a known leader; it waits for one, for a candidate, or for its own
election (KIP-595).
"""

from __future__ import annotations

from collections.abc import Mapping

from .replica_key import ReplicaKey
from .voters import VoterEndpoint


class UnattachedState:
    """Knows the epoch, and possibly its vote, or a leader's id without an endpoint."""

    __slots__ = ("deadline", "epoch", "leader_endpoints", "leader_id", "voted")

    def __init__(
        self, epoch: int, deadline: int, leader_id: int | None = None, voted: ReplicaKey | None = None
    ) -> None:
        self.epoch, self.leader_id, self.voted = epoch, leader_id, voted
        self.deadline = deadline  # a voter starts an election then; an observer never does
        self.leader_endpoints: Mapping[str, VoterEndpoint] = {}

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """One vote per epoch, and none if there is a leader. Pre-votes are not bound."""
        return can_grant_vote(self.voted, self.leader_id, candidate, up_to_date, pre_vote)

    def __repr__(self) -> str:
        return f"Unattached in epoch {self.epoch}"


def can_grant_vote(
    voted: ReplicaKey | None, leader_id: int | None, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool
) -> bool:
    """Whether a voter without a leader grants a vote."""
    if pre_vote:
        return up_to_date
    if voted is not None:
        return voted.fits(candidate)
    return leader_id is None and up_to_date
