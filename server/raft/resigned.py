"""Resigned: the leader of this epoch once, and its leader no more (KIP-595).

Also a leader that comes back from a restart: it may have forgotten what it promised to whom, so it neither leads nor votes in that epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .replica_key import ReplicaKey
from .voters import Endpoint


@dataclass(slots=True, eq=False)
class Resigned:
    """Tells the voters that it is gone, and waits for one of them to lead."""

    epoch: int
    deadline: int  # nobody has come until then: the epoch is over
    leader_id: int  # itself
    leader_endpoints: Mapping[str, Endpoint]
    unaware: set[int] = field(default_factory=set)  # voters that have not answered EndQuorumEpoch yet
    successors: Sequence[ReplicaKey] = ()  # voters, the one with the longest log first

    voted: ClassVar[None] = None

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """In this epoch it has led: it has no vote to give."""
        return pre_vote and up_to_date

    def __repr__(self) -> str:
        return f"Resigned in epoch {self.epoch}"
