"""Real clients against three brokers: no acknowledged record is lost with a leader, and groups
continue with another coordinator."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from tests.support.waiting import eventually

pytest.importorskip("confluent_kafka")
pytest.importorskip("kafka")

import confluent_kafka
import kafka as kafka_python

PATIENCE = 30
QUIET = {"log_level": 0}
SOON = {"reconnect.backoff.max.ms": 200, "metadata.recovery.rebootstrap.trigger.ms": 1000}
"""librdkafka's default is a back-off of ten seconds after a few refused connections, and a
rebootstrap after five minutes if the last broker in its metadata is gone."""

RECORDS, KILL_AT = 120, 30

SESSIONS = {"broker.session.timeout.ms": 1000, "broker.heartbeat.interval.ms": 200, "offsets.topic.num.partitions": 3}
"""Broker sessions of one second, so that a test does not wait long."""


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(brokers=3, config=SESSIONS) as kafka:
        kafka.create_topic("t", replication_factor=3, config={"min.insync.replicas": 2})
        yield kafka


class Confluent:
    """confluent-kafka, with and without idempotence."""

    def __init__(self, kafka: KafkaDouble, **more: Any) -> None:
        self.acknowledged: dict[bytes, int] = {}
        base = {"bootstrap.servers": kafka.bootstrap_servers, "acks": "all", "linger.ms": 0, **QUIET}
        times = {"retry.backoff.ms": 20, "reconnect.backoff.ms": 20, "topic.metadata.refresh.interval.ms": 500}
        self._producer = confluent_kafka.Producer({**base, **times, **more})

    def send(self, value: bytes) -> None:
        def delivered(error: object, message: confluent_kafka.Message) -> None:
            if error is None:
                self.acknowledged[value] = message.offset() or 0

        self._producer.produce("t", value, on_delivery=delivered)
        self._producer.poll(0.005)

    def finish(self) -> None:
        assert self._producer.flush(PATIENCE) == 0


class Idempotent(Confluent):
    """confluent-kafka with idempotence, set up so that it cannot lose records by itself.

    librdkafka (2.16.0) counts a request that a former leader refused as no longer in flight before
    it has put the records back into its queue. If it already knows the new leader, the thread of
    that broker can send a later batch in between. A leader that has no state of the producer
    accepts any first sequence, as Kafka's does; librdkafka then reports the refused records as
    delivered. With one request in flight, and no refresh of metadata by time, it learns of the new
    leader from the refusal only, and the queue is complete by then.
    """

    def __init__(self, kafka: KafkaDouble) -> None:
        in_order = {"max.in.flight.requests.per.connection": 1, "topic.metadata.refresh.interval.ms": -1}
        super().__init__(kafka, **{"enable.idempotence": True, **in_order})


class KafkaPython:
    def __init__(self, kafka: KafkaDouble) -> None:
        self.acknowledged: dict[bytes, int] = {}
        self._producer = kafka_python.KafkaProducer(
            bootstrap_servers=kafka.bootstrap_servers, acks="all", retries=1000, retry_backoff_ms=20
        )

    def send(self, value: bytes) -> None:
        future = self._producer.send("t", value)
        future.add_callback(lambda metadata: self.acknowledged.__setitem__(value, metadata.offset))
        time.sleep(0.002)

    def finish(self) -> None:
        self._producer.flush(PATIENCE)
        self._producer.close()


@pytest.mark.parametrize("client", [Confluent, Idempotent, KafkaPython])
def test_acknowledged_records_survive_a_killed_leader(kafka: KafkaDouble, client: Any) -> None:
    first = kafka.wait_for_leader("t", 0)
    user = client(kafka)
    for number in range(RECORDS):
        if number == KILL_AT:
            eventually(lambda: user.acknowledged or not user.send(b"more"))
            kafka.brokers[first].kill()
        user.send(b"%d" % number)
    user.finish()
    assert kafka.leader("t", 0) != first
    held = {record.offset: record.value for record in kafka.records("t")}
    assert {held.get(offset) for offset in user.acknowledged.values()} == user.acknowledged.keys()
    assert {b"%d" % number for number in range(RECORDS)} <= user.acknowledged.keys()
    if client is Idempotent:
        values = [value for value in held.values() if value != b"more"]
        assert values == [b"%d" % number for number in range(RECORDS)], "each once, in order"
    kafka.brokers[first].start()
    eventually(lambda: kafka.isr("t", 0) == [1, 2, 3])
    kafka.move_leader("t", 0, to=first)
    assert {record.offset: record.value for record in kafka.records("t")} == held


class ConfluentConsumer:
    """confluent-kafka, in a thread."""

    def __init__(self, kafka: KafkaDouble) -> None:
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": kafka.bootstrap_servers,
                "group.id": "g",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "reconnect.backoff.ms": 20,
                **QUIET,
            }
        )
        self._consumer.subscribe(["t"])

    def next(self) -> bytes | None:
        message = self._consumer.poll(0.1)
        if message is None or message.error() is not None:
            return None
        try:
            self._consumer.commit(message=message, asynchronous=False)
        except confluent_kafka.KafkaException:
            return message.value()  # the next commit will do
        return message.value()

    def close(self) -> None:
        self._consumer.close()


class KafkaPythonConsumer:
    def __init__(self, kafka: KafkaDouble) -> None:
        self._consumer = kafka_python.KafkaConsumer(
            "t",
            bootstrap_servers=kafka.bootstrap_servers,
            group_id="g",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            consumer_timeout_ms=100,
        )
        # This waits for metadata: a group leader that joins earlier assigns nothing, and may never
        # assign again.
        self._consumer.topics()

    def next(self) -> bytes | None:
        found = next(self._consumer, None)
        if found is not None:
            self._consumer.commit_async()
        return None if found is None else found.value

    def close(self) -> None:
        self._consumer.commit()
        self._consumer.close()


@pytest.mark.parametrize("client", [ConfluentConsumer, KafkaPythonConsumer])
def test_a_group_goes_on_when_its_coordinator_is_killed(kafka: KafkaDouble, client: Any) -> None:
    leader = kafka.leader("t", 0)
    coordinator = next(id for id in (1, 2, 3) if id != leader)
    index = kafka.move_coordinator("g", to=coordinator)
    for number in range(10):
        kafka.produce("t", str(number))
    read: list[bytes] = []
    ended = threading.Event()

    def consume() -> None:
        consumer = client(kafka)
        while not ended.is_set():
            value = consumer.next()
            if value is not None:
                read.append(value)
        consumer.close()

    thread = threading.Thread(target=consume)
    thread.start()
    try:
        eventually(lambda: len(read) >= 10)
        eventually(lambda: sum(offset.offset for offset in kafka.groups()["g"].offsets.values()) >= 5)
        kafka.brokers[coordinator].kill()
        eventually(lambda: kafka.leader("__consumer_offsets", index) not in (coordinator, None))
        for number in range(10, 20):
            kafka.produce("t", str(number))
        eventually(lambda: set(read) == {b"%d" % number for number in range(20)})
        eventually(lambda: "g" in kafka.groups() and kafka.groups()["g"].members)
    finally:
        ended.set()
        thread.join(PATIENCE)
    assert sum(offset.offset for offset in kafka.groups()["g"].offsets.values()) == 20
    assert len(read) == 20, "the other coordinator knew what was committed"


def test_pauses_and_isolation_are_survived(kafka: KafkaDouble) -> None:
    user = Idempotent(kafka)
    first = kafka.wait_for_leader("t", 0)
    others = [id for id in (1, 2, 3) if id != first]
    for number in range(30):
        user.send(b"%d" % number)
    kafka.brokers[first].pause()
    eventually(lambda: kafka.leader("t", 0) in others)
    kafka.brokers[first].resume()
    for number in range(30, 60):
        user.send(b"%d" % number)
    user.finish()
    second = kafka.wait_for_leader("t", 0)
    kafka.brokers[second].isolate()
    eventually(lambda: kafka.leader("t", 0) not in (second, None))
    kafka.brokers[second].join()
    for number in range(60, 90):
        user.send(b"%d" % number)
    user.finish()
    assert [record.value for record in kafka.records("t")] == [b"%d" % number for number in range(90)]


def test_a_consumer_learns_of_a_truncation_by_an_unclean_election() -> None:
    with KafkaDouble(brokers=3, stepped=True) as kafka:
        kafka.create_topic("t", replication_factor=3)
        kafka.move_leader("t", 0, to=1)
        settings = {
            "group.id": "g",
            # The coordinator dies with broker 1, and closing would wait for it.
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "topic.metadata.refresh.interval.ms": 500,
            **QUIET,
            **SOON,
        }
        consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka.bootstrap_servers, **settings})
        consumer.assign([confluent_kafka.TopicPartition("t", 0, 0)])
        kafka.produce("t", "kept")
        kafka.brokers[2].isolate()
        kafka.brokers[3].isolate()
        kafka.advance(35)
        kafka.produce("t", "lost")
        read = [polled(consumer), polled(consumer)]
        assert [message.value() for message in read] == [b"kept", b"lost"]
        kafka.brokers[1].kill()
        kafka.brokers[2].join()
        # A broker that is cut off gives clients stale metadata.
        kafka.brokers[3].join()
        kafka.advance(10)
        assert kafka.unclean_election("t", 0) in (2, 3)
        found = polled(consumer)
        assert "Partition log truncation detected at offset 2" in str(found.error()), found.value()
        consumer.close()


def polled(consumer: confluent_kafka.Consumer) -> confluent_kafka.Message:
    """The next message that is a record, or an error that is more than a lost connection."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        message = consumer.poll(0.5)
        error = None if message is None else message.error()
        if message is not None and (error is None or error.code() > -190):
            return message
        if message is not None and error is not None and "truncation" in error.str():
            return message
    raise AssertionError("nothing came")


def test_a_group_needs_no_time_with_a_stopped_clock() -> None:
    """Also the creation of `__consumer_offsets`, with three replicas, needs no time."""
    with KafkaDouble(brokers=3, stepped=True) as kafka:
        kafka.create_topic("orders", replication_factor=3)
        kafka.produce("orders", "two pears")
        settings = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "shop", "auto.offset.reset": "earliest"}
        consumer = confluent_kafka.Consumer(settings)
        try:
            consumer.subscribe(["orders"])
            message = consumer.poll(60)
            assert message is not None
            assert message.value() == b"two pears"
            (committed,) = consumer.commit(message=message, asynchronous=False)
            assert (committed.offset, committed.error) == (1, None)
        finally:
            consumer.close()
