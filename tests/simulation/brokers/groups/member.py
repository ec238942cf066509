"""A simulated client with the consumer protocol (KIP-848): it heartbeats, revokes in its own time,
restarts, leaves, and repeats everything when an answer is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.server.coordinator.coordinator_lookup import GROUP

from ...world import Broken
from ..shape import TOPIC
from ..transactions.steps import Asked, SteppedClient, Steps
from . import promises

if TYPE_CHECKING:
    from .cluster import GroupCluster

VERSION = 1
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


class GroupMember(SteppedClient["GroupCluster"]):
    """`using` are the partitions that it has in use, `assigned` those that it shall have."""

    def __init__(self, cluster: GroupCluster, id: int, member_id: str, instance: str | None) -> None:
        self.member_id, self.instance = member_id, instance
        self.epoch = JOIN
        self.using, self.assigned = set[int](), set[int]()
        self._repeats = True
        super().__init__(cluster, id)
        self.regex = self.random.random() < 0.3

    @property
    def owner(self) -> str:
        return self.instance or self.member_id

    def steps(self) -> Steps:
        while True:
            yield from self._heartbeat()
            yield self.random.randint(60, 400)
            if not self.cluster.is_ending and self.random.random() < GOES:
                yield from self._leave()
                return

    def _heartbeat(self) -> Steps:
        if self.using != self.assigned and self.random.random() < 0.5:
            self.using = set(self.assigned)  # it has revoked the rest, and takes over what is new
        to = yield from self.coordinator(GROUP, NAME)
        body, term = self._request(), self.cluster.term(to)
        answer = yield Asked(to, body, VERSION)
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
            self._forget()
        else:
            self._follow(answer)

    def _request(self) -> ConsumerGroupHeartbeatRequest:
        body = ConsumerGroupHeartbeatRequest(
            group_id=NAME, member_id=self.member_id, member_epoch=self.epoch, instance_id=self.instance
        )
        if self._repeats or self.epoch == JOIN:
            body.rebalance_timeout_ms = REBALANCE_TIMEOUT_MS
            body.subscribed_topic_names = [] if self.regex else [TOPIC]
            body.subscribed_topic_regex = f"{TOPIC}|none" if self.regex else None
        topic = ConsumerGroupHeartbeatRequest.TopicPartitions
        used = [topic(topic_id=self.cluster.topic_id, partitions=sorted(self.using))] if self.using else []
        # While it revokes, it does not say what it has.
        body.topic_partitions = None if self.using - self.assigned and not self._repeats else used
        return body

    def _follow(self, answer: Any) -> None:
        promises.epoch_only_grows(self, answer.member_epoch, self.epoch)
        self.epoch, self._repeats = answer.member_epoch, False
        if answer.assignment is not None:
            topics = answer.assignment.topic_partitions
            self.assigned = {index for each in topics for index in each.partitions}
        # What it still uses it has, too; what it shall have, it was given.
        self.cluster.given(self, self.epoch, self.using | self.assigned)

    def _forget(self) -> None:
        self.epoch, self._repeats = JOIN, True
        self.using, self.assigned = set(), set()

    def _leave(self) -> Steps:
        """It stops, with or without a last heartbeat; another one comes in its place."""
        epoch = LEAVE_FOR_A_WHILE if self.instance is not None else LEAVE
        self.world.note("{} goes", self.member_id)
        self.using, self.assigned = set(), set()
        if self.random.random() < 0.7:
            body = ConsumerGroupHeartbeatRequest(
                group_id=NAME, member_id=self.member_id, member_epoch=epoch, instance_id=self.instance
            )
            yield Asked((yield from self.coordinator(GROUP, NAME)), body, VERSION)
        self.is_over = True
        self.cluster.replace(self)

    def __repr__(self) -> str:
        return f"member {self.member_id} in epoch {self.epoch} with {sorted(self.using)} of {sorted(self.assigned)}"
