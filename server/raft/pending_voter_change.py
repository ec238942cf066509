"""A change of the voters that is under way: one at a time, because only then do the majorities before and after it overlap (KIP-853)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kafkadouble.messages import error_codes

from ..requests.waiting import Waiters
from .voters import Voter


class VoterChangeStep(Enum):
    """Where it stands."""

    PROBING = "the new voter is asked which levels of kraft.version it knows"
    CATCHING_UP = "the new voter is fetching what it lacks"
    COMMITTING = "the new set stands in the log"
    DONE = "it is over; `code` says how"


@dataclass(slots=True, eq=False)
class PendingVoterChange:
    """`voter` is who is added, removed, or changed."""

    voter: Voter
    expires: int
    step: VoterChangeStep
    ack_when_committed: bool = True
    offset: int = -1  # of the VotersRecord, once there is one
    code: int = 0
    message: str | None = None
    waiters: Waiters = field(default_factory=Waiters)

    def finish(self, code: int = 0, message: str | None = None) -> None:
        """Whoever asked for it is told."""
        if self.step is not VoterChangeStep.DONE:
            self.step, self.code, self.message = VoterChangeStep.DONE, code, message
        self.waiters.wake_all()

    def give_up(self) -> None:
        """The leader leads no more: what becomes of the change is the next one's to say."""
        self.finish(error_codes.NOT_LEADER_OR_FOLLOWER)

    def __repr__(self) -> str:
        return f"a change of {self.voter.key!r}: {self.step.value}"
