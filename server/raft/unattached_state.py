"""Unattached: a replica that knows of no leader it could follow, and waits: for one, for a candidate, or for its own turn (KIP-595)."""

from __future__ import annotations

from collections.abc import Mapping

from .replica_key import ReplicaKey
from .voters import VoterEndpoint


class UnattachedState:
    """Knows the epoch, perhaps whom it voted for, perhaps the leader's name but not where he is."""

    __slots__ = ("deadline", "epoch", "leader_endpoints", "leader_id", "voted")

    def __init__(
        self, epoch: int, deadline: int, leader_id: int | None = None, voted: ReplicaKey | None = None
    ) -> None:
        self.epoch, self.leader_id, self.voted = epoch, leader_id, voted
        self.deadline = deadline  # a voter stands for election then; an observer never does
        self.leader_endpoints: Mapping[str, VoterEndpoint] = {}

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """Once per epoch, to one candidate; to none where there is a leader. A pre-vote binds nobody."""
        return can_grant_vote(self.voted, self.leader_id, candidate, up_to_date, pre_vote)

    def __repr__(self) -> str:
        return f"Unattached in epoch {self.epoch}"


def can_grant_vote(
    voted: ReplicaKey | None, leader_id: int | None, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool
) -> bool:
    """How one votes who follows nobody."""
    if pre_vote:
        return up_to_date
    if voted is not None:
        return voted.fits(candidate)
    return leader_id is None and up_to_date
