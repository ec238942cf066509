"""Prospective: a voter that lost its leader requests pre-votes before it raises the epoch
(KIP-996).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .epoch_election import EpochElection
from .replica_key import ReplicaKey
from .unattached_state import can_grant_vote
from .voters import VoterEndpoint


@dataclass(slots=True, eq=False)
class ProspectiveState:
    """The epoch stays. The leader is kept: without a majority of pre-votes it is followed again."""

    epoch: int
    deadline: int  # the pre-votes end then
    epoch_election: EpochElection
    leader_id: int | None = None
    leader_endpoints: Mapping[str, VoterEndpoint] = field(default_factory=dict)
    voted: ReplicaKey | None = None

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        return can_grant_vote(self.voted, self.leader_id, candidate, up_to_date, pre_vote)

    def __repr__(self) -> str:
        return f"Prospective in epoch {self.epoch} with {self.epoch_election!r}"
