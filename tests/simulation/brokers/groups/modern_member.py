"""What the simulated clients of consumer, share and streams groups have in common: heartbeats with
an epoch. A client restarts, leaves, and repeats everything when an answer is lost."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.message import Message
from kafkadouble.server.coordinator.coordinator_lookup import GROUP

from ...world import Broken
from ..transactions.steps import Asked, SteppedClient, Steps
from . import promises

if TYPE_CHECKING:
    from .cluster import GroupCluster

NAME = "g"
"""The group."""

JOIN, LEAVE, LEAVE_FOR_A_WHILE = 0, -1, -2
REBALANCE_TIMEOUT_MS = 8000

GOES = 0.05
"""The probability that a member goes after a heartbeat."""

REJOINS = {codes.FENCED_MEMBER_EPOCH, codes.UNKNOWN_MEMBER_ID}
WAITS = {
    codes.NOT_COORDINATOR,
    codes.COORDINATOR_NOT_AVAILABLE,
    codes.COORDINATOR_LOAD_IN_PROGRESS,
    # The last answer to its former self, which leaves, was lost.
    codes.UNRELEASED_INSTANCE_ID,
    codes.GROUP_ID_NOT_FOUND,
    # A broker that has just started does not know the features yet.
    codes.UNSUPPORTED_VERSION,
}

C = TypeVar("C", bound="GroupCluster")


class ModernMember(SteppedClient[C]):
    """`instance` is the name of a static member. `_repeats`: the next heartbeat says everything,
    because the coordinator may have missed it."""

    version: ClassVar[int]

    def __init__(self, cluster: C, id: int, member_id: str, instance: str | None = None) -> None:
        self.member_id, self.instance = member_id, instance
        self.epoch = JOIN
        self._repeats = True
        super().__init__(cluster, id)

    @property
    def owner(self) -> str:
        return self.instance or self.member_id

    def steps(self) -> Steps:
        while True:
            yield from self._heartbeat()
            yield from self._work()
            if not self.cluster.is_ending and self.random.random() < GOES:
                yield from self._leave()
                return

    def _work(self) -> Steps:
        """What it does until its next heartbeat."""
        yield self.random.randint(60, 400)

    def _heartbeat(self) -> Steps:
        self._reconcile()
        to = yield from self.coordinator(GROUP, NAME)
        body, term = self._request(), self.cluster.term(to)
        answer = yield Asked(to, body, self.version)
        if answer is None or answer.error_code in WAITS:
            self._repeats = True
            self.forget_coordinator(GROUP, NAME)
            yield from self.pause()
        elif answer.error_code:
            # A coordinator of the past refuses at once, since an error shows nothing uncommitted.
            if term is not None and term == self.cluster.term(to):
                promises.epoch_is_kept(self, body.member_epoch, answer.error_message)
            if answer.error_code not in REJOINS:
                raise Broken(f"{self!r} is answered {codes.name(answer.error_code)}: {answer.error_message}")
            self.epoch, self._repeats = JOIN, True
            self._give_up()
        else:
            promises.epoch_only_grows(self, answer.member_epoch, self.epoch)
            self.epoch, self._repeats = answer.member_epoch, False
            self._follow(answer)

    def _reconcile(self) -> None:
        """Called before each heartbeat: it may give up what is no longer assigned."""

    @abstractmethod
    def _request(self) -> Any:
        """The next heartbeat."""

    @abstractmethod
    def _last_request(self, epoch: int) -> Message:
        """The heartbeat with which it leaves."""

    @abstractmethod
    def _follow(self, answer: Any) -> None:
        """Takes over what the coordinator says."""

    @abstractmethod
    def _give_up(self) -> None:
        """It has nothing any more: it is not in the group, or it goes."""

    def _leave(self) -> Steps:
        """It stops, with or without a last heartbeat; another one comes in its place."""
        epoch = LEAVE_FOR_A_WHILE if self.instance is not None else LEAVE
        self.world.note("{} goes", self.member_id)
        self._give_up()
        if self.random.random() < 0.7:
            yield Asked((yield from self.coordinator(GROUP, NAME)), self._last_request(epoch), self.version)
        self.is_over = True
        self.cluster.replace(self)
