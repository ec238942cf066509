"""The votes of one election, counted against the majority of the voters at its start (Kafka's
EpochElection).
"""

from __future__ import annotations

from collections.abc import Iterable

from .replica_key import ReplicaKey
from .voters import VoterSet


class EpochElection:
    """The answers of the voters."""

    __slots__ = ("_answers", "_voters")

    def __init__(self, voters: VoterSet) -> None:
        self._voters = voters
        self._answers: dict[int, bool] = {}

    def record(self, voter_id: int, granted: bool) -> None:
        """Records an answer; only voters count. A refusal does not take back a granted vote."""
        if voter_id in self._voters:
            self._answers[voter_id] = granted or self._answers.get(voter_id, False)

    def forget_refusal(self, voter_id: int) -> None:
        """Forgets a refusal, so that the voter is asked again."""
        if self._answers.get(voter_id) is False:
            del self._answers[voter_id]

    @property
    def is_won(self) -> bool:
        return sum(self._answers.values()) >= self._voters.majority

    @property
    def is_lost(self) -> bool:
        """Whether the voters that have not refused are no majority."""
        refused = sum(not granted for granted in self._answers.values())
        return len(self._voters) - refused < self._voters.majority

    @property
    def unasked(self) -> Iterable[ReplicaKey]:
        """The voters that have not answered."""
        return [voter.key for voter in self._voters if voter.id not in self._answers]

    @property
    def granting(self) -> list[ReplicaKey]:
        return [voter.key for voter in self._voters if self._answers.get(voter.id)]

    def __repr__(self) -> str:
        return f"{sum(self._answers.values())} of {len(self._voters)} votes, {self._voters.majority} needed"
