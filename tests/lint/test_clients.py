"""Real clients: normal use has no finding, and bad settings and bad use have theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble import KafkaDouble

pytest.importorskip("confluent_kafka")
pytest.importorskip("kafka")
pytest.importorskip("aiokafka")

import aiokafka
import kafka as kafka_python
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

PATIENCE = 20
COUNT = 150


def servers(kafka: KafkaDouble, **more: Any) -> dict[str, Any]:
    settings = {name.replace("_", "."): value for name, value in more.items()}
    return {"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0, **settings}


def consumer(kafka: KafkaDouble, **more: Any) -> Consumer:
    arguments = {"group_id": "shop", "auto_offset_reset": "earliest", "enable_auto_commit": False, **more}
    return Consumer(servers(kafka, **arguments))


def confluent(kafka: KafkaDouble) -> None:
    producer = Producer(servers(kafka))
    for _ in range(COUNT):
        producer.produce("orders", b"x")
    assert producer.flush(PATIENCE) == 0
    transactional = Producer(servers(kafka, transactional_id="t"))
    transactional.init_transactions(PATIENCE)
    reader = consumer(kafka, isolation_level="read_committed", enable_auto_commit=True)
    reader.subscribe(["orders"])
    assert len(reader.consume(COUNT, PATIENCE)) == COUNT
    for _ in range(3):
        transactional.begin_transaction()
        transactional.produce("orders", b"x")
        offsets = reader.position(reader.assignment())
        transactional.send_offsets_to_transaction(offsets, reader.consumer_group_metadata(), PATIENCE)
        transactional.commit_transaction(PATIENCE)
    assert len(reader.consume(3, PATIENCE)) == 3
    reader.close()


def kafka_py(kafka: KafkaDouble) -> None:
    producer = kafka_python.KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for _ in range(COUNT):
        producer.send("orders", b"x").get(PATIENCE)
    producer.close()
    transactional = kafka_python.KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id="t")
    transactional.init_transactions()
    for _ in range(3):
        transactional.begin_transaction()
        transactional.send("orders", b"x")
        transactional.commit_transaction()
    transactional.close()
    reader = kafka_python.KafkaConsumer(
        "orders", bootstrap_servers=kafka.bootstrap_servers, group_id="shop", auto_offset_reset="earliest"
    )
    for _ in zip(range(COUNT + 3), reader, strict=False):
        pass
    reader.commit()
    reader.close()


def aio_kafka(kafka: KafkaDouble) -> None:
    async def use() -> None:
        at = {"bootstrap_servers": kafka.bootstrap_servers}
        async with aiokafka.AIOKafkaProducer(**at) as producer:
            for _ in range(COUNT):
                await producer.send_and_wait("orders", b"x")
        async with aiokafka.AIOKafkaProducer(**at, transactional_id="t") as producer:
            for _ in range(3):
                async with producer.transaction():
                    await producer.send_and_wait("orders", b"x")
        async with aiokafka.AIOKafkaConsumer("orders", **at, group_id="shop", auto_offset_reset="earliest") as reader:
            for _ in range(COUNT + 3):
                await reader.getone()
            await reader.commit()

    asyncio.run(asyncio.wait_for(use(), PATIENCE))


@pytest.mark.parametrize("brokers", [1, 3])
@pytest.mark.parametrize("use", [confluent, kafka_py, aio_kafka])
def test_lint_of_normal_clients_has_no_finding(use: Callable[[KafkaDouble], None], brokers: int) -> None:
    with KafkaDouble(brokers=brokers) as kafka:
        kafka.create_topic("orders", partitions=3)
        use(kafka)
        kafka.requests.assert_seen("OffsetCommit", "TxnOffsetCommit", group="shop")
        kafka.requests.assert_seen("EndTxn", transactional_id="t", times=3)
        assert "\n".join(map(str, kafka.lint())) == ""


def retries_without_idempotence(kafka: KafkaDouble) -> None:
    kafka.disconnect("Produce", after=True)
    producer = Producer(servers(kafka, retry_backoff_ms=10))
    producer.produce("orders", b"x")
    assert producer.flush(PATIENCE) == 0
    assert len(kafka.records("orders")) == 2


def commits_what_it_does_not_own(kafka: KafkaDouble) -> None:
    first, second = consumer(kafka), consumer(kafka)
    first.subscribe(["orders"])
    second.subscribe(["orders"])
    while not (first.assignment() and second.assignment()):
        first.poll(0.05)
        second.poll(0.05)
    (other,) = second.assignment()
    first.commit(offsets=[TopicPartition("orders", other.partition, 0)], asynchronous=False)
    first.close()
    second.close()


def commits_from_outside(kafka: KafkaDouble) -> None:
    member, outsider = consumer(kafka), consumer(kafka)
    member.subscribe(["orders"])
    while not member.assignment():
        member.poll(0.05)
    with pytest.raises(KafkaException, match="UNKNOWN_MEMBER_ID"):
        outsider.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
    member.close()
    outsider.close()


def commits_each_record(kafka: KafkaDouble) -> None:
    for _ in range(COUNT):
        kafka.produce("orders", "x", partition=0)
    reader = consumer(kafka)
    reader.assign([TopicPartition("orders", 0, 0)])
    for _ in range(COUNT):
        message = reader.poll(PATIENCE)
        assert message is not None
        reader.commit(message=message, asynchronous=False)
    reader.close()


def fetches_in_a_loop(kafka: KafkaDouble) -> None:
    reader = consumer(kafka, fetch_wait_max_ms=1)
    reader.assign([TopicPartition("orders", 0, 0)])
    while not kafka.lint():
        reader.poll(0.1)
    reader.close()


def speaks_as_of_2017(kafka: KafkaDouble) -> None:
    producer = kafka_python.KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, api_version=(0, 11))
    producer.send("orders", b"x").get(PATIENCE)
    producer.close()


def asks_for_metadata_in_a_loop(kafka: KafkaDouble) -> None:
    producer = Producer(servers(kafka))
    while not kafka.lint():
        for _ in range(30):
            producer.list_topics("orders", timeout=PATIENCE)


def creates_a_topic(kafka: KafkaDouble) -> None:
    producer = Producer(servers(kafka))
    producer.produce("ordres", b"x")
    assert producer.flush(PATIENCE) == 0


def makes_a_producer_for_each_record(kafka: KafkaDouble) -> None:
    for _ in range(35):
        producer = Producer(servers(kafka))
        producer.produce("orders", b"x")
        assert producer.flush(PATIENCE) == 0


BAD: dict[str, list[Callable[[KafkaDouble], None]]] = {
    "retry-without-idempotence": [retries_without_idempotence],
    "commit-without-ownership": [commits_what_it_does_not_own, commits_from_outside],
    "commit-per-record": [commits_each_record],
    "busy-fetch-loop": [fetches_in_a_loop],
    "old-version": [speaks_as_of_2017],
    "metadata-storm": [asks_for_metadata_in_a_loop],
    "topic-created-by-accident": [creates_a_topic],
    "connection-per-request": [makes_a_producer_for_each_record],
}
"""For each rule what a client does. What librdkafka sends during a throttling depends on its
timing: `test_rules` has a connection with a clock of its own."""


@pytest.mark.parametrize(("rule", "act"), [(rule, act) for rule, acts in BAD.items() for act in acts])
def test_lint_finds_habits_of_clients(rule: str, act: Callable[[KafkaDouble], None]) -> None:
    with KafkaDouble() as kafka:
        kafka.create_topic("orders", partitions=2)
        act(kafka)
        assert {found.rule for found in kafka.lint()} == {rule}
