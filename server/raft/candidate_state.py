"""Candidate: a voter that stands for election, in an epoch of its own making (KIP-595).

Apache Kafka's candidate that cannot win waits until its election timeout is over. Ours that is refused by one who had consented when it was
asked by way of trial stands together with another candidate; it asks again after a shorter time, drawn by chance, since their next turns then
part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from .epoch_election import EpochElection
from .replica_key import ReplicaKey
from .voters import VoterEndpoint


class CandidateState:
    """It has voted for itself; that stands on disk."""

    __slots__ = ("consenting", "deadline", "epoch", "epoch_election", "voted")

    leader_id: ClassVar[None] = None
    leader_endpoints: ClassVar[Mapping[str, VoterEndpoint]] = {}

    def __init__(
        self,
        epoch: int,
        deadline: int,
        epoch_election: EpochElection,
        voted: ReplicaKey,
        consenting: frozenset[int] = frozenset(),
    ) -> None:
        self.epoch, self.epoch_election, self.voted = epoch, epoch_election, voted
        self.consenting = consenting  # granted a pre-vote for this election
        self.deadline = deadline  # not elected by then, it asks around anew

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """Its vote is given; but it does not mind if another one asks around."""
        return pre_vote and up_to_date

    def contested(self, retry_at: int) -> None:
        """Somebody who had consented has voted for another."""
        self.deadline = min(self.deadline, retry_at)

    def __repr__(self) -> str:
        return f"Candidate in epoch {self.epoch} with {self.epoch_election!r}"
