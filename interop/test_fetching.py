"""How a broker answers fetches: when it waits, what it never splits, and what its internal topics
hold."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from interop.brokers import Broker
from interop.clients import Client
from interop.clients.shape import Partition, Record
from interop.log_of_groups import records
from interop.support import create_topic
from tests.support.waiting import eventually

HELD = 25_000
"""Milliseconds for which the broker holds a fetch that finds too few bytes: less than clients wait
for a response."""

AT_ONCE = 20
"""Seconds within which a fetch that does not wait must be answered, even on a busy machine."""


def test_a_fetch_that_waits_answers_as_soon_as_a_record_comes(broker: Broker, client: Client, topic: str) -> None:
    options = {"fetch_max_wait_ms": HELD}
    with (
        client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)], **options) as consumer,
        client.producer(broker.bootstrap) as producer,
    ):
        producer.send(topic, [Record(b"first")])
        consumer.read(1)
        later = threading.Timer(0.5, producer.send, (topic, [Record(b"late")]))
        begun = time.monotonic()
        later.start()
        assert consumer.read(1)[0].value == b"late"
        assert 0.4 < time.monotonic() - begun < AT_ONCE
        later.join()


def test_too_few_bytes_are_held_back_until_the_wait_is_over(broker: Broker, client: Client, topic: str) -> None:
    with client.producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(b"small")])
    options = {"fetch_min_bytes": 100_000, "fetch_max_wait_ms": 1500}
    begun = time.monotonic()
    with client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)], **options) as consumer:
        assert consumer.read(1)[0].value == b"small"
        assert time.monotonic() - begun > 1.4


def test_enough_bytes_are_given_at_once_also_when_they_come_bit_by_bit(
    broker: Broker, client: Client, topic: str
) -> None:
    options = {"fetch_min_bytes": 100_000, "fetch_max_wait_ms": HELD}
    with (
        client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)], **options) as consumer,
        client.producer(broker.bootstrap) as producer,
    ):
        consumer.poll(0)
        begun = time.monotonic()
        for _ in range(4):
            producer.send(topic, [Record(b"x" * 30_000)])
        assert consumer.read(4)[-1].offset == 3
        assert time.monotonic() - begun < AT_ONCE


def test_a_consumer_that_takes_few_bytes_at_a_time_gets_everything_in_order(
    broker: Broker, client: Client, topic: str
) -> None:
    with client.producer(broker.bootstrap, linger_ms=5, compression_type="lz4") as producer:
        for start in range(0, 1000, 250):
            producer.send(topic, [Record(b"%d-" % n + b"x" * 50) for n in range(start, start + 250)])
    options = {"max_partition_fetch_bytes": 1000, "fetch_max_bytes": 1000}
    if client.name == "confluent-kafka":
        # librdkafka requires fetch.max.bytes to be at least this
        options["message_max_bytes"] = 1000
    with client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)], **options) as consumer:
        assert [seen.offset for seen in consumer.read(1000)] == list(range(1000))


def test_a_read_committed_consumer_reads_what_is_no_part_of_a_transaction(
    broker: Broker, client: Client, topic: str
) -> None:
    with client.producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(b"%d" % n) for n in range(20)])
    options = {"isolation_level": "read_committed", "group_id": topic}
    with client.consumer(broker.bootstrap, [topic], **options) as consumer:
        assert [seen.offset for seen in consumer.read(20)] == list(range(20))


def test_a_hundred_partitions_are_written_and_read(broker: Broker, client: Client, name: str) -> None:
    create_topic(broker.bootstrap, name, 100)
    with client.producer(broker.bootstrap, linger_ms=5) as producer:
        producer.send(name, [Record(b"%d" % index, partition=index) for index in range(100)])
    with client.consumer(broker.bootstrap, [name], group_id=name) as consumer:
        assert sorted((seen.partition, seen.value) for seen in consumer.read(100)) == [
            (index, b"%d" % index) for index in range(100)
        ]


def test_committed_offsets_are_read_from_the_offsets_topic(broker: Broker, client: Client, topic: str) -> None:
    partition = Partition(topic, 0)
    with client.consumer(broker.bootstrap, partitions=[partition], group_id=topic) as consumer:
        consumer.commit({partition: (0, "one")})
        consumer.commit({partition: (0, "two")})
    written = [
        (key.topic, key.partition, value.offset, value.metadata.rstrip("\0"))
        for key, value in records(broker, client)
        if type(key).__name__ == "OffsetCommitKey" and key.group == topic
    ]
    assert written == [(topic, 0, 0, "one"), (topic, 0, 0, "two")]


def test_group_metadata_is_read_from_the_offsets_topic(broker: Broker, client: Client, topic: str) -> None:
    with client.consumer(broker.bootstrap, [topic], group_id=topic, client_id="me") as consumer:
        consumer.joined()
        found = eventually(lambda: _metadata(broker, topic, client), lambda found: bool(found and found[-1].members))
    value = found[-1]
    assert value.protocol_type == "consumer"
    assert [member.client_id for member in value.members] == ["me"]
    assert value.leader == value.members[0].member_id
    assert topic.encode() in bytes(value.members[0].assignment)


def _metadata(broker: Broker, group: str, client: Client) -> list[Any]:
    return [
        value
        for key, value in records(broker, client)
        if type(key).__name__ == "GroupMetadataKey" and key.group == group and value is not None
    ]


def test_requests_in_quick_succession_are_answered_without_delay(broker: Broker, client: Client, topic: str) -> None:
    """librdkafka asks for both bounds at once. A broker that delays its second response until the
    first is acknowledged (Nagle's algorithm) needs 40 ms for it."""
    with client.consumer(broker.bootstrap) as consumer:
        consumer.bounds(Partition(topic, 0))
        took = []
        for _ in range(50):
            begun = time.monotonic()
            consumer.bounds(Partition(topic, 0))
            took.append(time.monotonic() - begun)
    # A broker that delays its responses does so each time, a busy machine does not.
    assert min(took) < 0.035


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_consumer_poll_without_records_returns_in_time(
    broker: Broker, client: Client, topic: str, seconds: float
) -> None:
    with client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
        begun = time.monotonic()
        assert consumer.poll(seconds) == []
        assert time.monotonic() - begun < seconds + AT_ONCE
