"""The dead-letter queue of share groups on three brokers: another broker than the one that gives
records up leads it, and fails."""

from __future__ import annotations

import pytest

from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.server.metadata.image import GROUP, TOPIC
from kafkadouble.server.node import Node
from kafkadouble.server.share.persister import SharePartitionKey
from kafkadouble.server.share.share_group_dlq_manager import ShareGroupDLQRecordParameter
from kafkadouble.wire.batch import decode_all
from tests.server.config_requests import incremental
from tests.server.transactions.brokers import BROKERS, Brokers

QUEUE = "dlq.g"
RETRIED_MS = 60_000
"""Longer than all pauses together."""


class DeadLetterBrokers(Brokers):
    """12 leads "t", which has three records, and gives them up."""

    def __init__(self, queue: list[int] | None = None) -> None:
        super().__init__({"errors.deadletterqueue.auto.create.topics.enable": "true", "num.partitions": 1})
        self.done = 0
        if queue is not None:
            self._create(QUEUE, queue)
            self.configure(TOPIC, QUEUE, "errors.deadletterqueue.group.enable", "true")
        self.configure(GROUP, "g", "errors.deadletterqueue.copy.record.enable", "true")
        self.configure(GROUP, "g", "errors.deadletterqueue.topic.name", QUEUE)
        self.until(lambda: all(self.nodes[id].image.config_overrides(GROUP, "g") for id in BROKERS))
        producer = self.producer()
        for value in (b"a", b"b", b"c"):
            assert producer.send(value) == 0
        assert producer.end(commit=True) == 0
        self.until(lambda: self.label == "CompleteCommit")

    def configure(self, type: int, resource: str, name: str, value: str) -> None:
        body = incremental((type, resource, {name: value}))
        (result,) = self.ask(self.leader, body, 1).responses
        assert result.error_code == 0, result

    def give_up(self, first: int, last: int) -> None:
        node = self.led_by("t")
        assert node is not None
        assert node.id == 12
        given_up = ShareGroupDLQRecordParameter(
            SharePartitionKey("g", node.image.topic_ids["t"], 0), first, last, 1, "because"
        )
        node.share_group_dlq_manager.enqueue(given_up, self._count)

    def _count(self) -> None:
        self.done += 1

    @property
    def queue_leader(self) -> Node:
        self.until(lambda: self.led_by(QUEUE) is not None, RETRIED_MS)
        node = self.led_by(QUEUE)
        assert node is not None
        return node

    def queued(self) -> list[bytes | None]:
        """The values of the records that every replica in sync has."""
        partition = self.queue_leader.partitions.get(QUEUE, 0)
        assert partition is not None
        return [each.value for each in decode_all(partition.log.read(0, 1 << 20).records)]


@pytest.mark.parametrize("leader", BROKERS)
def test_any_broker_may_lead_the_queue(leader: int) -> None:
    brokers = DeadLetterBrokers([leader, *(id for id in BROKERS if id != leader)])
    brokers.give_up(0, 2)
    brokers.until(lambda: brokers.done == 1)
    assert brokers.queue_leader.id == leader
    assert brokers.queued() == [b"a", b"b", b"c"]


def test_a_broker_has_the_controller_create_the_topic() -> None:
    """Both ranges wait for one creation."""
    brokers = DeadLetterBrokers()
    brokers.give_up(0, 0)
    brokers.give_up(2, 2)
    brokers.until(lambda: brokers.done == 2, RETRIED_MS)
    assert sorted(brokers.queued(), key=str) == [b"a", b"c"]


def test_the_topic_is_being_created_for_a_client() -> None:
    """It does not allow dead letters then, which is found when it is looked up again."""
    brokers = DeadLetterBrokers()
    lookup = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=QUEUE)], allow_auto_topic_creation=True)
    brokers.submit(brokers.nodes[12], lookup, 9, lambda answer: None)
    brokers.give_up(0, 0)
    assert brokers.done == 0
    brokers.until(lambda: brokers.done == 1, RETRIED_MS)
    assert brokers.queued() == []


@pytest.mark.parametrize("how", ["killed", "isolated"])
def test_the_leader_of_the_queue_fails(how: str) -> None:
    brokers = DeadLetterBrokers([13, 11, 12])
    first = brokers.queue_leader
    if how == "killed":
        brokers.kill(first.id)
    else:
        brokers.cut.add(first.id)
    brokers.give_up(0, 2)
    brokers.until(lambda: brokers.done == 1, RETRIED_MS)
    assert brokers.queue_leader.id != first.id
    assert brokers.queued() == [b"a", b"b", b"c"]
