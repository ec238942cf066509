"""Three brokers and a controller, with the topic "t" and the coordinators' topics of one partition
each, replicated on all brokers, and the topic "alone" on one broker. Requests of clients are sent
to the leader of their partition, in stepped time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.generated.txn_offset_commit import TxnOffsetCommitRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkadouble.server.node import Node
from kafkadouble.server.raft.request_manager import RequestFailure
from kafkadouble.server.requests.listener_spec import ListenerSpec
from kafkadouble.server.transactions.transaction_coordinator_shard import TransactionCoordinatorShard
from kafkadouble.server.transactions.transaction_metadata import TransactionalIdEntry
from tests.server.controllers import Controllers
from tests.support.transactional_producer import TransactionalProducer

BROKERS = (11, 12, 13)


def topic_of(body: Message) -> str:
    """The topic whose leader gets the request."""
    if isinstance(body, ProduceRequest):
        return body.topic_data[0].name
    if isinstance(body, FetchRequest):
        return body.topics[0].topic
    if isinstance(body, TxnOffsetCommitRequest | OffsetFetchRequest):
        return CONSUMER_OFFSETS
    return TRANSACTION_STATE


RETRIED = (error_codes.COORDINATOR_LOAD_IN_PROGRESS, error_codes.CONCURRENT_TRANSACTIONS)


class Brokers(Controllers):
    """Each topic has another preferred leader: broker 11 is the transaction coordinator, 12 leads
    "t", and 13 is the group coordinator."""

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        # Number of a pending request -> the receiver, and the callback of the sender.
        self._in_flight: dict[int, tuple[Node, Callable[[Any], None]]] = {}
        self._numbers = count(1)
        super().__init__(1, settings)
        self.add_brokers(BROKERS)
        for first, topic in zip(BROKERS, (TRANSACTION_STATE, "t", CONSUMER_OFFSETS), strict=True):
            self._create(topic, [first, *(id for id in BROKERS if id != first)])
        self._create("alone", [12])
        self.until(self._has_all_shards)

    def submit(
        self,
        node: Node,
        body: Message,
        version: int,
        answered: Callable[[Any], None],
        listener: ListenerSpec | None = None,
    ) -> None:
        """Submits a request, and remembers it for `kill` while it is pending."""
        number = next(self._numbers)

        def once(answer: Any) -> None:
            if self._in_flight.pop(number, None) is not None:
                answered(answer)

        self._in_flight[number] = node, once
        super().submit(node, body, version, once, listener)

    def kill(self, id: int) -> None:
        """Kills a node. The pending requests to this node are lost."""
        killed = self.nodes[id]
        super().kill(id)
        for target, answered in list(self._in_flight.values()):
            if target is killed:
                answered(RequestFailure.LOST)

    def _create(self, topic: str, replicas: list[int]) -> None:
        self.create(topic, brokers=replicas, configs={"min.insync.replicas": "2"})

    def _has_all_shards(self) -> bool:
        alive = [self.nodes[id] for id in BROKERS if id in self.nodes]
        known = all(node.image.topic_named("alone") is not None for node in alive)
        return known and self.shard is not None and self.led_by(CONSUMER_OFFSETS) is not None

    def of(self, topic: str) -> PartitionImage:
        return self.topic(topic).partitions[0]

    def led_by(self, topic: str) -> Node | None:
        """The broker that leads the topic, according to the metadata and to itself."""
        image = self.of(topic)
        node = self.nodes.get(image.leader)
        partition = None if node is None else node.partitions.get(topic, 0)
        return node if partition is not None and partition.leader_epoch == image.leader_epoch else None

    @property
    def coordinator(self) -> Node:
        node = self.led_by(TRANSACTION_STATE)
        assert node is not None
        return node

    @property
    def shard(self) -> TransactionCoordinatorShard | None:
        node = self.led_by(TRANSACTION_STATE)
        return None if node is None else node.transactions.runtime.shard_at(0)

    @property
    def entry(self) -> TransactionalIdEntry:
        assert self.shard is not None
        return self.shard.entries["app"]

    @property
    def label(self) -> str:
        """The state of the id "app"."""
        return self.entry.metadata.state.label

    def route(self, body: Message, version: int) -> Any:
        """The response of the leader of the request's partition; waits for a leader first."""
        topic = topic_of(body)
        self.until(lambda: self.led_by(topic) is not None)
        node = self.led_by(topic)
        assert node is not None
        return self.ask(node, body, version)

    def producer(self, **how: Any) -> TransactionalProducer:
        made = TransactionalProducer(self.route, **how)
        self.init(made)
        return made

    def init(self, producer: TransactionalProducer) -> None:
        """InitProducerId, repeated as clients do: while the broker gets producer ids, and while
        another transaction is being aborted."""
        for _ in range(50):
            if (code := producer.init()) not in RETRIED:
                break
            self.step(20)
        assert code == 0

    def fail_over(self, topic: str) -> Node:
        """Kills the leader of the topic, and returns the new leader."""
        before = self.led_by(topic)
        assert before is not None
        self.kill(before.id)
        return self.new_leader(topic, before)

    def new_leader(self, topic: str, before: Node) -> Node:
        def has_moved() -> bool:
            after = self.led_by(topic)
            return after is not None and after.id != before.id

        self.until(has_moved, 60_000)
        node = self.led_by(topic)
        assert node is not None
        return node
