"""A simulated client with the consumer protocol (KIP-848), which revokes partitions in its own
time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

from ..shape import TOPIC
from .modern_member import JOIN, NAME, REBALANCE_TIMEOUT_MS, ModernMember

if TYPE_CHECKING:
    from .consumer_cluster import ConsumerGroupCluster


class GroupMember(ModernMember["ConsumerGroupCluster"]):
    """`using` are the partitions that it uses, `assigned` those that the coordinator assigns."""

    version = 1

    def __init__(self, cluster: ConsumerGroupCluster, id: int, member_id: str, instance: str | None) -> None:
        self.using, self.assigned = set[int](), set[int]()
        super().__init__(cluster, id, member_id, instance)
        self.regex = self.random.random() < 0.3

    def _reconcile(self) -> None:
        if self.using != self.assigned and self.random.random() < 0.5:
            self.using = set(self.assigned)  # it has revoked the rest, and takes over what is new

    def _request(self) -> ConsumerGroupHeartbeatRequest:
        body = self._last_request(self.epoch)
        if self._repeats or self.epoch == JOIN:
            body.rebalance_timeout_ms = REBALANCE_TIMEOUT_MS
            body.subscribed_topic_names = [] if self.regex else [TOPIC]
            body.subscribed_topic_regex = f"{TOPIC}|none" if self.regex else None
        topic = ConsumerGroupHeartbeatRequest.TopicPartitions
        used = [topic(topic_id=self.cluster.topic_id(TOPIC), partitions=sorted(self.using))] if self.using else []
        # While it revokes, it does not say what it has.
        body.topic_partitions = None if self.using - self.assigned and not self._repeats else used
        return body

    def _last_request(self, epoch: int) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            group_id=NAME, member_id=self.member_id, member_epoch=epoch, instance_id=self.instance
        )

    def _follow(self, answer: Any) -> None:
        if answer.assignment is not None:
            topics = answer.assignment.topic_partitions
            self.assigned = {index for topic in topics for index in topic.partitions}
        # What it still uses it has, too; its assignment, it was given.
        self.cluster.given(self, self.epoch, self.using | self.assigned)

    def _give_up(self) -> None:
        self.using, self.assigned = set(), set()

    def __repr__(self) -> str:
        return f"member {self.member_id} in epoch {self.epoch} with {sorted(self.using)} of {sorted(self.assigned)}"
