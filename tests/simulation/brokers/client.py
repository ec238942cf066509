"""The base of every simulated client: it asks brokers which broker leads, and never believes a
leader epoch older than one it has seen (KIP-320)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft.request_manager import RequestFailure

from .shape import TOPIC

if TYPE_CHECKING:
    from .cluster import Cluster

METADATA_VERSION = 12
TIMEOUT_MS, BACKOFF_MS = 1200, 60


class Client:
    def __init__(self, cluster: Cluster, id: int, index: int) -> None:
        self.cluster, self.world, self.id, self.index = cluster, cluster.world, id, index
        self.leader, self.leader_epoch = -1, -1
        self.topic_id = Uuid.ZERO

    def begin(self) -> None:
        self.refresh()

    def go_on(self) -> None:
        """Called when the leader is known: sends the client's next request."""
        raise NotImplementedError

    def later(self, delay: int, action: Callable[[], None]) -> None:
        self.world.after(delay, action)

    def ask(self, to: int, body: Message, version: int, on_answer: Callable[[Any], None]) -> None:
        """Calls `on_answer` with the answer, or with None when there was none."""

        def answered(answer: Message | RequestFailure) -> None:
            on_answer(None if isinstance(answer, RequestFailure) else answer)

        self.cluster.wires.ask(self.id, to, body, version, answered, TIMEOUT_MS, at_broker=True)

    def refresh(self) -> None:
        """Asks brokers for the leader, until one answers."""
        of = MetadataRequest
        body = of(topics=[of.MetadataRequestTopic(name=TOPIC)], allow_auto_topic_creation=False)
        self.ask(self.world.random.choice(self.cluster.shape.broker_ids), body, METADATA_VERSION, self._learn)

    def _learn(self, answer: MetadataResponse | None) -> None:
        for topic in () if answer is None else answer.topics:
            for partition in topic.partitions:
                if partition.partition_index == self.index and partition.leader_epoch >= self.leader_epoch:
                    self.leader, self.leader_epoch = partition.leader_id, partition.leader_epoch
                    self.topic_id = topic.topic_id
        if answer is None or self.leader < 0:
            self.later(BACKOFF_MS, self.refresh)
        else:
            self.go_on()

    def try_again(self) -> None:
        """A request failed: looks for the leader again, after a pause."""
        self.later(BACKOFF_MS + self.world.random.randint(0, 20), self.refresh)
