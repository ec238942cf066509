"""What users rely on in the dead-letter queues of share groups (KIP-1191): what a group gives up is
in the dead-letter topic with headers that say what it was, and a queue that cannot be used delays
no record. The client is librdkafka's share consumer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest
from confluent_kafka import AcknowledgeType, ShareConsumer

from interop import share_groups
from interop.brokers import Broker
from interop.clients import CREATOR
from interop.clients.shape import Headers, Partition, Record, Seen
from interop.controllers import admin
from interop.support import create_topic
from tests.support.waiting import eventually

ACCEPT, RELEASE, REJECT = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT
LIMIT = 2
"""Deliveries of a record: the fewest that brokers allow by default."""
ENABLED = {"errors.deadletterqueue.group.enable": "true"}
"""The setting of a topic that may be a dead-letter queue."""
AUTO_CREATE = "errors.deadletterqueue.auto.create.topics.enable"

Deeds = Callable[[int], AcknowledgeType]
"""What the member does with the record at an offset."""


class Sharing:
    """A topic with three partitions, and a share group with its name and with a dead-letter
    topic."""

    def __init__(self, broker: Broker, name: str, **settings: str) -> None:
        self.broker, self.topic, self.queue = broker, name, f"dlq.{name}"
        self._written = set[int]()
        self.create(self.topic, 3)
        share_groups.configure(
            broker.bootstrap,
            name,
            share_auto_offset_reset="earliest",
            share_delivery_count_limit=str(LIMIT),
            **{"errors_deadletterqueue_topic_name": self.queue, **settings},
        )

    def create(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        create_topic(self.broker.bootstrap, topic, partitions, configs)

    def work(self, records: list[Record], deeds: Deeds, compression_type: str = "none") -> None:
        """Writes records, and lets a member do its deeds until the group has finished all."""
        with CREATOR.producer(self.broker.bootstrap, compression_type=compression_type) as producer:
            producer.send(self.topic, records)
        self._written |= {record.partition or 0 for record in records}
        settings = {
            "bootstrap.servers": self.broker.bootstrap,
            "group.id": self.topic,
            "share.acknowledgement.mode": "explicit",
        }
        with ShareConsumer(settings) as consumer:
            consumer.subscribe([self.topic])
            eventually(lambda: self._poll(consumer, deeds), bool, pause=0)

    def _poll(self, consumer: ShareConsumer, deeds: Deeds) -> bool:
        """Whether the group has finished every record."""
        for message in consumer.poll(0.2):
            assert message.error() is None
            consumer.acknowledge(message, deeds(message.offset() or 0))
        assert not any(consumer.commit_sync(30).values())
        offsets = share_groups.offsets(self.broker.bootstrap, self.topic, self.topic)
        return all(at in offsets and offsets[at].lag == 0 for at in self._written)

    def dead_letters(self, count: int, partitions: int = 1) -> list[Seen]:
        """The first records of the dead-letter topic, by the records that they are of."""
        places = [Partition(self.queue, index) for index in range(partitions)]
        with CREATOR.consumer(self.broker.bootstrap, partitions=places) as consumer:
            return sorted(consumer.read(count), key=lambda seen: (*map(_number, seen.headers[1:3]),))


def _number(header: tuple[str, bytes | None]) -> int:
    return int(header[1] or b"")


def headers(sharing: Sharing, partition: int, offset: int, deliveries: int, why: bytes) -> Headers:
    return [
        ("__dlq.errors.topic", sharing.topic.encode()),
        ("__dlq.errors.partition", b"%d" % partition),
        ("__dlq.errors.offset", b"%d" % offset),
        ("__dlq.errors.group", sharing.topic.encode()),
        ("__dlq.errors.delivery.count", b"%d" % deliveries),
        ("__dlq.errors.message", why),
    ]


REJECTED, EXCEEDED = b"Offset rejected by client.", b"Offset delivery count exceeded the threshold."

RECORDS = [
    Record(b"v", b"k", [("a", b"1"), ("b", None), ("a", b"2")]),
    Record(None, b"k"),
    Record(b"v", None),
    Record(b"", b""),
]


@pytest.mark.parametrize(("copies", "codec"), [("true", "zstd"), ("false", "none")])
def test_rejected_and_too_often_released_records_are_in_the_dead_letter_queue(
    broker: Broker, name: str, copies: str, codec: str
) -> None:
    """Offsets 0 to 3 are accepted, 4 to 7 rejected, 8 to 11 released until they have been delivered
    too often."""
    sharing = Sharing(broker, name, errors_deadletterqueue_copy_record_enable=copies)
    sharing.create(sharing.queue, 2, ENABLED)
    records = [each._replace(partition=at) for at in range(3) for _ in range(3) for each in RECORDS]
    sharing.work(records, lambda offset: (ACCEPT, REJECT, RELEASE)[offset // len(RECORDS)], codec)
    letters = sharing.dead_letters(3 * 2 * len(RECORDS), 2)
    expected = []
    for partition in range(3):
        for why, first, deliveries in ((REJECTED, 4, 1), (EXCEEDED, 8, LIMIT)):
            for at, record in enumerate(RECORDS):
                key, value = (record.key, record.value) if copies == "true" else (None, None)
                expected.append((partition % 2, key, value, headers(sharing, partition, first + at, deliveries, why)))
    assert [(seen.partition, seen.key, seen.value, seen.headers) for seen in letters] == expected


def test_a_record_that_is_too_large_for_the_queue_is_not_copied(broker: Broker, name: str) -> None:
    sharing = Sharing(broker, name, errors_deadletterqueue_copy_record_enable="true")
    sharing.create(sharing.queue, configs={**ENABLED, "max.message.bytes": "1000"})
    values = [b"small", bytes(2000), b"other"]
    sharing.work([Record(value) for value in values], lambda offset: REJECT)
    letters = sharing.dead_letters(3)
    assert [seen.value for seen in letters] == [b"small", None, b"other"]
    assert [seen.headers for seen in letters] == [headers(sharing, 0, at, 1, REJECTED) for at in range(3)]


def test_many_records_are_given_up_at_once(broker: Broker, name: str) -> None:
    """More than one batch of the queue holds."""
    sharing = Sharing(broker, name, errors_deadletterqueue_copy_record_enable="true")
    sharing.create(sharing.queue, configs={**ENABLED, "max.message.bytes": "20000"})
    values = [b"%d" % number for number in range(1000)]
    sharing.work([Record(value) for value in values], lambda offset: REJECT)
    assert [seen.value for seen in sharing.dead_letters(len(values))] == values


@contextmanager
def auto_creation(broker: Broker) -> Iterator[None]:
    admin.set_default(broker.bootstrap, AUTO_CREATE, "true")
    try:
        yield
    finally:
        admin.set_default(broker.bootstrap, AUTO_CREATE, None)


@pytest.mark.needs("own")
def test_the_broker_creates_the_topic_where_it_may(broker: Broker, name: str) -> None:
    sharing = Sharing(broker, name)
    with auto_creation(broker):
        sharing.work([Record(b"v")], lambda offset: REJECT)
        (seen,) = sharing.dead_letters(1)
    assert seen.headers == headers(sharing, 0, 0, 1, REJECTED)
    with CREATOR.admin(broker.bootstrap) as creator:
        configs = creator.configs("topic", sharing.queue)
        assert len(creator.partitions_of(sharing.queue)) == 1
    assert {key: configs[key] for key in (*ENABLED, "message.timestamp.type")} == {
        **ENABLED,
        "message.timestamp.type": "CreateTime",
    }


def test_a_missing_topic_delays_nothing(broker: Broker, name: str) -> None:
    """It is not created, and what was given up before it exists is not in it."""
    sharing = Sharing(broker, name)
    sharing.work([Record(b"early")], lambda offset: REJECT)
    with CREATOR.admin(broker.bootstrap) as creator:
        assert sharing.queue not in creator.topics()
    sharing.create(sharing.queue, configs=ENABLED)
    sharing.work([Record(b"late")], lambda offset: REJECT)
    assert sharing.dead_letters(1)[0].headers == headers(sharing, 0, 1, 1, REJECTED)


def test_a_topic_that_is_no_queue_gets_nothing(broker: Broker, name: str) -> None:
    sharing = Sharing(broker, name)
    sharing.create(sharing.queue)
    sharing.work([Record(b"early")], lambda offset: REJECT)
    with CREATOR.admin(broker.bootstrap) as creator:
        creator.alter_configs("topic", sharing.queue, *(("set", key, value) for key, value in ENABLED.items()))
    sharing.work([Record(b"late")], lambda offset: REJECT)
    assert sharing.dead_letters(1)[0].headers == headers(sharing, 0, 1, 1, REJECTED)


def test_a_topic_without_the_prefix_gets_nothing(broker: Broker, name: str) -> None:
    sharing = Sharing(broker, name, errors_deadletterqueue_topic_name=f"other.{name}")
    for queue in (f"other.{name}", sharing.queue):
        sharing.create(queue, configs=ENABLED)
    sharing.work([Record(b"early")], lambda offset: REJECT)
    share_groups.configure(broker.bootstrap, name, errors_deadletterqueue_topic_name=sharing.queue)
    sharing.work([Record(b"late")], lambda offset: REJECT)
    assert sharing.dead_letters(1)[0].headers == headers(sharing, 0, 1, 1, REJECTED)
    with CREATOR.consumer(broker.bootstrap, partitions=[Partition(f"other.{name}", 0)]) as consumer:
        assert list(consumer.poll(1.0)) == []


def test_a_group_without_a_queue_gives_records_up(broker: Broker, name: str) -> None:
    sharing = Sharing(broker, name, errors_deadletterqueue_topic_name="")
    sharing.work([Record(b"early")], lambda offset: REJECT)
