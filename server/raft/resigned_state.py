"""Resigned: the leader of this epoch once, and its leader no more (KIP-595).

Also a leader that comes back from a restart: it may have forgotten what it promised to whom, so it neither leads nor votes in that epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from .replica_key import ReplicaKey
from .voters import VoterEndpoint


class ResignedState:
    """Tells the voters that it is gone, and waits for one of them to lead. `leader_id` is itself."""

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
        self.deadline = deadline  # nobody has come until then: the epoch is over
        self.unaware = unaware or set()  # voters that have not answered EndQuorumEpoch yet
        self.successors = successors  # voters, the one with the longest log first

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """In this epoch it has led: it has no vote to give."""
        return pre_vote and up_to_date

    def __repr__(self) -> str:
        return f"Resigned in epoch {self.epoch}"
