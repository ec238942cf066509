"""What users rely on in share groups (KIP-932): members share the records of a partition, and what
one does not accept is delivered again. The client is librdkafka's share consumer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from confluent_kafka import AcknowledgeType, Message, Producer, ShareConsumer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from interop.brokers import Broker
from interop.clients import CREATOR
from tests.support.waiting import eventually

RECORDS = 40


@pytest.fixture
def topic(broker: Broker, name: str) -> str:
    """A topic of two partitions with records, which a share group of its name reads from the
    start."""
    with CREATOR.admin(broker.bootstrap) as admin:
        admin.create_topic(name, 2)
        eventually(admin.topics, lambda found: name in found)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS):
        producer.produce(name, str(number), partition=number % 2)
    assert producer.flush(60) == 0
    entry = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    group = ConfigResource(ConfigResource.Type.GROUP, name, incremental_configs=[entry])
    configurer = AdminClient({"bootstrap.servers": broker.bootstrap})
    configurer.incremental_alter_configs([group])[group].result(60)
    return name


Join = Callable[..., Any]


@pytest.fixture
def join(broker: Broker, topic: str) -> Iterator[Join]:
    """Lets a share consumer join the group; all are closed at the end."""
    with ExitStack() as stack:

        def joined(**settings: str) -> Any:
            settings = {"bootstrap.servers": broker.bootstrap, "group.id": topic, **settings}
            consumer = stack.enter_context(ShareConsumer(settings))
            consumer.subscribe([topic])
            return consumer

        yield joined


EXPLICIT = {"share.acknowledgement.mode": "explicit"}


def read(consumer: Any, found: list[Message], count: int) -> None:
    """Polls until so many records have come."""

    def poll() -> int:
        found.extend(message for message in consumer.poll(0.5) if message.error() is None)
        return len(found)

    eventually(poll, lambda length: length >= count, pause=0)


def test_a_lone_member_gets_every_record_once(join: Join) -> None:
    consumer, found = join(), list[Message]()
    read(consumer, found, RECORDS)
    consumer.poll(1)
    assert sorted(int(message.value() or b"") for message in found) == list(range(RECORDS))
    assert {message.partition() for message in found} == {0, 1}


def test_two_members_share_the_records(broker: Broker, topic: str, join: Join) -> None:
    members, found = [join(), join()], list[Message]()
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS, 2 * RECORDS):
        producer.produce(topic, str(number), partition=0)
    assert producer.flush(60) == 0

    def poll() -> int:
        for member in members:
            found.extend(message for message in member.poll(0.3) if message.error() is None)
        return len(found)

    eventually(poll, lambda length: length >= 2 * RECORDS, pause=0)
    counts = Counter(int(message.value() or b"") for message in found)
    assert counts == Counter(range(2 * RECORDS))


def test_released_records_are_delivered_again_and_rejected_ones_are_not(join: Join) -> None:
    consumer, released, again, count = join(**EXPLICIT), set[tuple[int, int]](), set[tuple[int, int]](), 0
    kinds = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT)

    def poll() -> tuple[int, int]:
        nonlocal count
        for message in consumer.poll(0.5):
            place = (message.partition(), message.offset())
            if place in released:
                again.add(place)
                consumer.acknowledge(message, AcknowledgeType.ACCEPT)
                continue
            kind, count = kinds[count % 3], count + 1
            if kind is AcknowledgeType.RELEASE:
                released.add(place)
            consumer.acknowledge(message, kind)
        consumer.commit_sync(30)
        return count, len(again)

    eventually(poll, lambda counts: counts == (RECORDS, RECORDS // 3), pause=0)
    assert again == released
    assert len(consumer.poll(1)) == 0
