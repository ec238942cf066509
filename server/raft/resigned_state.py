"""Resigned: the former leader of this epoch (KIP-595).

Also the state of a leader after a restart: it may have forgotten what it confirmed, so it neither
leads nor votes in that epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from .replica_key import ReplicaKey
from .voters import VoterEndpoint


class ResignedState:
    """Sends EndQuorumEpoch to the voters, and waits for another leader. `leader_id` is its own
    id.
    """

    __slots__ = ("deadline", "epoch", "leader_endpoints", "leader_id", "successors", "unaware")

    voted: ClassVar[None] = None

    def __init__(
        self,
        epoch: int,
        deadline: int,
        leader_id: int,
        leader_endpoints: Mapping[str, VoterEndpoint],
        unaware: set[int] | None = None,
        successors: Sequence[ReplicaKey] = (),
    ) -> None:
        self.epoch, self.leader_id, self.leader_endpoints = epoch, leader_id, leader_endpoints
        self.deadline = deadline  # without a new leader by then the next epoch starts
        self.unaware = unaware or set()  # voters that have not answered EndQuorumEpoch
        self.successors = successors  # voters, longest log first

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """It led this epoch, so it has no vote; pre-votes may be granted."""
        return pre_vote and up_to_date

    def __repr__(self) -> str:
        return f"Resigned in epoch {self.epoch}"
