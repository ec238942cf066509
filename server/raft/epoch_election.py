"""The votes of one election, counted by the majority of the voters at its start."""

from __future__ import annotations

from collections.abc import Iterable

from .replica_key import ReplicaKey
from .voters import VoterSet


class EpochElection:
    """Who has answered what."""

    __slots__ = ("_answers", "_voters")

    def __init__(self, voters: VoterSet) -> None:
        self._voters = voters
        self._answers: dict[int, bool] = {}

    def record(self, voter_id: int, granted: bool) -> None:
        """An answer; from somebody who has no vote it is not counted. A refusal does not take back what was granted."""
        if voter_id in self._voters:
            self._answers[voter_id] = granted or self._answers.get(voter_id, False)

    def ask_again(self, voter_id: int) -> None:
        """What it refused it may grant now."""
        if self._answers.get(voter_id) is False:
            del self._answers[voter_id]

    @property
    def is_won(self) -> bool:
        return sum(self._answers.values()) >= self._voters.majority

    @property
    def is_lost(self) -> bool:
        """Whether those who have not refused are no majority any more."""
        refused = sum(not granted for granted in self._answers.values())
        return len(self._voters) - refused < self._voters.majority

    @property
    def unasked(self) -> Iterable[ReplicaKey]:
        """Those who have not answered."""
        return [voter.key for voter in self._voters if voter.id not in self._answers]

    @property
    def granting(self) -> list[ReplicaKey]:
        return [voter.key for voter in self._voters if self._answers.get(voter.id)]

    def __repr__(self) -> str:
        return f"{sum(self._answers.values())} of {len(self._voters)} votes, {self._voters.majority} needed"
