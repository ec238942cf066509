"""A pending change of the voters: only one at a time, so that the majorities before and after it
overlap (KIP-853).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kafkadouble.messages import error_codes

from ..requests.waiting import Waiters
from .voters import Voter


class VoterChangeStep(Enum):
    """The steps of a change."""

    PROBING = "waits for the kraft.version levels of the new voter"
    CATCHING_UP = "waits until the new voter has caught up"
    COMMITTING = "the new voters are in the log, and not committed"
    DONE = "finished with `code`"


@dataclass(slots=True, eq=False)
class PendingVoterChange:
    """`voter` is the voter to add, remove or update."""

    voter: Voter
    expires: int
    step: VoterChangeStep
    ack_when_committed: bool = True
    offset: int = -1  # of the VotersRecord, once it is written
    code: int = 0
    message: str | None = None
    waiters: Waiters = field(default_factory=Waiters)

    def finish(self, code: int = 0, message: str | None = None) -> None:
        """Wakes the request for the change."""
        if self.step is not VoterChangeStep.DONE:
            self.step, self.code, self.message = VoterChangeStep.DONE, code, message
        self.waiters.wake_all()

    def give_up(self) -> None:
        """The leader has resigned: the next leader decides about the change."""
        self.finish(error_codes.NOT_LEADER_OR_FOLLOWER)

    def __repr__(self) -> str:
        return f"a change of {self.voter.key!r}: {self.step.value}"
