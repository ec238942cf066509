"""Real clients against KafkaDouble: topics, records, groups, and how the clients handle a fault."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble import KafkaDouble

pytest.importorskip("confluent_kafka")
pytest.importorskip("kafka")
pytest.importorskip("aiokafka")

import aiokafka
import confluent_kafka
import kafka as kafka_python
from confluent_kafka import admin
from kafka.admin import KafkaAdminClient, NewTopic

PATIENCE = 15
QUIET = {"log_level": 0}
"""Without this, librdkafka reports every lost connection on stderr."""

VALUES = [f"value {number}".encode() for number in range(20)]


class Confluent:
    """confluent-kafka, which is librdkafka."""

    def __init__(self, kafka: KafkaDouble) -> None:
        self.base: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap_servers, "client.id": "confluent", **QUIET}

    def create(self, name: str, partitions: int) -> None:
        client = admin.AdminClient(self.base)
        for future in client.create_topics([admin.NewTopic(name, partitions, 1)]).values():
            future.result(PATIENCE)

    def produce(self, topic: str, values: list[bytes]) -> list[int]:
        producer = confluent_kafka.Producer(
            {**self.base, "retry.backoff.ms": 10, "linger.ms": 0, "batch.num.messages": 5}
        )
        offsets: list[int] = []

        def delivered(error: object, message: confluent_kafka.Message) -> None:
            offsets.append(-1 if error else message.offset() or 0)

        for value in values:
            producer.produce(topic, value, on_delivery=delivered)
        assert producer.flush(PATIENCE) == 0
        return offsets

    def consume(self, topic: str, group: str, count: int) -> list[bytes]:
        consumer = confluent_kafka.Consumer({**self.base, "group.id": group, "auto.offset.reset": "earliest"})
        consumer.subscribe([topic])
        values: list[bytes] = []
        deadline = time.monotonic() + PATIENCE
        while len(values) < count and time.monotonic() < deadline:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                values.append(message.value() or b"")
        consumer.commit(asynchronous=False)
        consumer.close()
        return values


class KafkaPython:
    def __init__(self, kafka: KafkaDouble) -> None:
        self.base = {"bootstrap_servers": kafka.bootstrap_servers, "client_id": "kafka-python"}

    def create(self, name: str, partitions: int) -> None:
        client = KafkaAdminClient(**self.base)
        client.create_topics([NewTopic(name, partitions, 1)])
        client.close()

    def produce(self, topic: str, values: list[bytes]) -> list[int]:
        producer = kafka_python.KafkaProducer(**self.base, retries=10, retry_backoff_ms=10)
        futures = [producer.send(topic, value) for value in values]
        offsets = [future.get(PATIENCE).offset for future in futures]
        producer.close()
        return offsets

    def consume(self, topic: str, group: str, count: int) -> list[bytes]:
        consumer = kafka_python.KafkaConsumer(
            topic, **self.base, group_id=group, auto_offset_reset="earliest", consumer_timeout_ms=PATIENCE * 1000
        )
        # This waits for metadata: a group leader that joins earlier assigns nothing, and may never
        # assign again.
        consumer.topics()
        values = [message.value for _, message in zip(range(count), consumer, strict=False)]
        consumer.commit()
        consumer.close()
        return values


class AioKafka:
    def __init__(self, kafka: KafkaDouble) -> None:
        self.base = {"bootstrap_servers": kafka.bootstrap_servers, "client_id": "aiokafka"}
        self.create = KafkaPython(kafka).create

    def produce(self, topic: str, values: list[bytes]) -> list[int]:
        async def produce() -> list[int]:
            async with aiokafka.AIOKafkaProducer(**self.base, retry_backoff_ms=10) as producer:
                return [(await producer.send_and_wait(topic, value)).offset for value in values]

        return asyncio.run(asyncio.wait_for(produce(), PATIENCE))

    def consume(self, topic: str, group: str, count: int) -> list[bytes]:
        async def consume() -> list[bytes]:
            consumer = aiokafka.AIOKafkaConsumer(topic, **self.base, group_id=group, auto_offset_reset="earliest")
            async with consumer:
                values = [(await consumer.getone()).value for _ in range(count)]
                await consumer.commit()
                return values

        return asyncio.run(asyncio.wait_for(consume(), PATIENCE))


Client = Callable[[KafkaDouble], Any]
CLIENTS = pytest.mark.parametrize("client", [Confluent, KafkaPython, AioKafka])


@CLIENTS
def test_client_creates_topic_produces_and_consumes_in_a_group(kafka: KafkaDouble, client: Client) -> None:
    user = client(kafka)
    user.create("t", 3)
    user.produce("t", VALUES)
    assert sorted(record.value or b"" for record in kafka.records("t")) == sorted(VALUES)
    kafka.produce("t", "seeded")
    assert sorted(user.consume("t", "g", len(VALUES) + 1)) == sorted([*VALUES, b"seeded"])
    group = kafka.groups()["g"]
    assert (group.type, group.state, group.members) == ("classic", "Empty", ())
    assert sum(committed.offset for committed in group.offsets.values()) == len(VALUES) + 1
    assert {"CreateTopics", "Produce", "Fetch", "JoinGroup", "OffsetCommit"} <= {seen.api for seen in kafka.requests}


@CLIENTS
def test_a_producer_outlives_errors_and_lost_answers(kafka: KafkaDouble, client: Client) -> None:
    """A batch is refused, then its connection is lost before the broker processes it. The client
    sends each batch again, and each is stored once."""
    kafka.create_topic("t")
    rules = [
        kafka.fail("Produce", "NOT_ENOUGH_REPLICAS"),
        kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", topic="t"),
        kafka.disconnect("Produce"),
    ]
    client(kafka).produce("t", VALUES[:5])
    assert [rule.hits for rule in rules] == [1, 1, 1]
    assert [record.value for record in kafka.records("t")] == VALUES[:5]


def test_batch_without_idempotence_is_stored_twice_after_a_lost_answer(kafka: KafkaDouble) -> None:
    """Without idempotence a producer cannot know that its batch was stored, and sends it again: the
    record is there twice."""
    kafka.create_topic("t")
    kafka.disconnect("Produce", after=True)
    Confluent(kafka).produce("t", VALUES[:1])
    assert [record.value for record in kafka.records("t")] == VALUES[:1] * 2


def test_an_error_that_is_final_reaches_the_program(kafka: KafkaDouble) -> None:
    kafka.create_topic("t")
    kafka.fail("Produce", "TOPIC_AUTHORIZATION_FAILED")
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka.bootstrap_servers, **QUIET})
    errors: list[Any] = []
    producer.produce("t", b"x", on_delivery=lambda error, message: errors.append(error))
    producer.flush(PATIENCE)
    assert [error.name() for error in errors] == ["TOPIC_AUTHORIZATION_FAILED"]
    assert kafka.records("t") == []


@CLIENTS
def test_a_consumer_outlives_a_coordinator_that_comes_and_goes(kafka: KafkaDouble, client: Client) -> None:
    kafka.create_topic("t")
    for value in VALUES:
        kafka.produce("t", value)
    rules = [
        kafka.fail("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", group="g"),
        kafka.fail("JoinGroup", "COORDINATOR_LOAD_IN_PROGRESS", group="g"),
        kafka.fail("Fetch", "NOT_LEADER_OR_FOLLOWER", topic="t", partition=0),
        kafka.fail("JoinGroup", "NOT_COORDINATOR", group="another"),
    ]
    assert client(kafka).consume("t", "g", len(VALUES)) == VALUES
    assert [rule.hits for rule in rules] == [1, 1, 1, 0]


def test_delay_of_produce_holds_a_client(kafka: KafkaDouble) -> None:
    kafka.create_topic("t")
    kafka.delay("Produce", 0.3)
    before = time.monotonic()
    Confluent(kafka).produce("t", VALUES[:1])
    assert time.monotonic() - before > 0.3


def test_a_session_times_out_when_time_is_advanced() -> None:
    """A member that died is noticed at once in real time: 45 seconds pass on the broker's clock."""
    with KafkaDouble(stepped=True) as kafka:
        kafka.create_topic("t")
        kafka.produce("t", "x")
        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest", **QUIET}
        )
        consumer.subscribe(["t"])
        deadline = time.monotonic() + PATIENCE
        while consumer.poll(0.1) is None and time.monotonic() < deadline:
            pass
        (member,) = kafka.groups()["g"].members
        assert member.assignment == (("t", 0),)
        kafka.delay("Heartbeat", 3600, times=None)
        kafka.advance(46)
        assert kafka.groups()["g"].members == ()
        kafka.reset()
        consumer.close()


def test_two_clients_are_distinguished_by_their_ids(kafka: KafkaDouble) -> None:
    kafka.create_topic("t")
    kafka.fail("Produce", "INVALID_RECORD", client_id="aiokafka", times=None)
    Confluent(kafka).produce("t", VALUES[:2])
    with pytest.raises(aiokafka.errors.KafkaError):
        AioKafka(kafka).produce("t", VALUES[:1])
    assert {seen.client_id for seen in kafka.requests.of("Produce")} == {"confluent", "aiokafka"}
    assert {seen.error for seen in kafka.requests.of("Produce", client_id="aiokafka")} == {"INVALID_RECORD"}
    assert len(kafka.records("t")) == 2
