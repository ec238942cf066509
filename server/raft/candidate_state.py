"""Candidate: a voter that requests votes in a new epoch (KIP-595).

Apache Kafka's candidate that cannot win waits for its election timeout. Here a candidate retries
after a shorter, random time if a voter that had granted its pre-vote refuses the vote: then another
candidate has requested votes at the same time, and the random times differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from .epoch_election import EpochElection
from .replica_key import ReplicaKey
from .voters import VoterEndpoint


class CandidateState:
    """The candidate's own vote is persisted."""

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
        self.consenting = consenting  # the voters that granted a pre-vote
        self.deadline = deadline  # without a majority by then it requests pre-votes again

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """Its vote is given, but pre-votes may be granted to others."""
        return pre_vote and up_to_date

    def contested(self, retry_at: int) -> None:
        """A voter that had granted the pre-vote has voted for another candidate."""
        self.deadline = min(self.deadline, retry_at)

    def __repr__(self) -> str:
        return f"Candidate in epoch {self.epoch} with {self.epoch_election!r}"
