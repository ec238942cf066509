"""Prospective: a voter that misses its leader asks whether it would be elected, before it disturbs anybody with a new epoch (KIP-996)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .ballot import Ballot
from .replica_key import ReplicaKey
from .unattached import grants_freely
from .voters import Endpoint


@dataclass(slots=True, eq=False)
class Prospective:
    """The epoch stays what it was. The leader is kept in mind: without a majority for an election he is followed again."""

    epoch: int
    deadline: int  # the election that never was is over then
    ballot: Ballot
    leader_id: int | None = None
    leader_endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    voted: ReplicaKey | None = None

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        return grants_freely(self.voted, self.leader_id, candidate, up_to_date, pre_vote)

    def __repr__(self) -> str:
        return f"Prospective in epoch {self.epoch} with {self.ballot!r}"
