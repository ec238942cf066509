"""Candidate: a voter that stands for election, in an epoch of its own making (KIP-595)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from .ballot import Ballot
from .replica_key import ReplicaKey
from .voters import Endpoint


@dataclass(slots=True, eq=False)
class Candidate:
    """It has voted for itself; that stands on disk."""

    epoch: int
    deadline: int  # not elected by then, it asks around anew
    ballot: Ballot
    voted: ReplicaKey

    leader_id: ClassVar[None] = None
    leader_endpoints: ClassVar[Mapping[str, Endpoint]] = {}

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """Its vote is given; but it does not mind if another one asks around."""
        return pre_vote and up_to_date

    def __repr__(self) -> str:
        return f"Candidate in epoch {self.epoch} with {self.ballot!r}"
