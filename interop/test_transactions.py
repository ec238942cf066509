"""Transactions (KIP-98): consumers of committed, aborted and open transactions, offset commits in a
transaction, fenced producers, and the transaction timeout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import pytest

from interop.brokers import Broker
from interop.clients import CLIENTS, CREATOR, Client
from interop.clients.shape import Consumer, Partition, Record, TransactionalProducer
from interop.support import create_topic, refused, unique
from kafkadouble.messages import error_codes
from tests.support.client import ask
from tests.support.transactional_producer import committed_offset
from tests.support.waiting import eventually

SHORT_TIMEOUT_MS = 5000
"""The broker aborts expired transactions every 10 s. librdkafka also uses this timeout as the limit
for a record, and needs a second or two to begin."""

pytestmark = pytest.mark.usefixtures("collected")


def made(*values: bytes) -> list[Record]:
    return [Record(value) for value in values]


def reader(client: Client, broker: Broker, topic: str, isolation_level: str = "read_committed") -> Consumer:
    return client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)], isolation_level=isolation_level)


def values(
    client: Client, broker: Broker, topic: str, count: int, isolation_level: str = "read_committed"
) -> list[bytes | None]:
    """The values of all records of the partition; `count` is their expected number."""
    with reader(client, broker, topic, isolation_level) as consumer:
        return [seen.value for seen in consumer.read(count)]


@pytest.fixture
def transactional(broker: Broker, client: Client, name: str) -> Iterator[TransactionalProducer]:
    """A producer whose transactional id is the name of the test."""
    with client.transactional(broker.bootstrap, transactional_id=name) as producer:
        yield producer


def test_a_committed_transaction_is_read(
    broker: Broker, client: Client, topic: str, transactional: TransactionalProducer
) -> None:
    transactional.begin()
    assert transactional.send(topic, made(b"a", b"b")) == [0, 1]
    transactional.commit_transaction()
    assert values(client, broker, topic, 2) == [b"a", b"b"]


def test_an_aborted_transaction_is_read_only_by_read_uncommitted(
    broker: Broker, client: Client, topic: str, transactional: TransactionalProducer
) -> None:
    for value, end in (
        (b"aborted", transactional.abort_transaction),
        (b"committed", transactional.commit_transaction),
        (b"aborted again", transactional.abort_transaction),
        (b"last", transactional.commit_transaction),
    ):
        transactional.begin()
        transactional.send(topic, made(value))
        end()
    assert values(client, broker, topic, 2) == [b"committed", b"last"]
    everything = [b"aborted", b"committed", b"aborted again", b"last"]
    assert values(client, broker, topic, 4, "read_uncommitted") == everything


def test_abort_drops_records_that_are_buffered_in_the_producer(
    broker: Broker, client: Client, topic: str, name: str
) -> None:
    with client.transactional(broker.bootstrap, transactional_id=name, linger_ms=50) as producer:
        producer.begin()
        producer.enqueue(topic, made(b"aborted"))
        producer.abort_transaction()
        producer.begin()
        producer.enqueue(topic, made(b"committed"))
        producer.commit_transaction()
    assert values(client, broker, topic, 1) == [b"committed"]


def test_open_transaction_holds_back_later_records(
    broker: Broker, client: Client, topic: str, transactional: TransactionalProducer
) -> None:
    transactional.begin()
    transactional.send(topic, made(b"open"))
    with client.producer(broker.bootstrap) as producer:
        producer.send(topic, made(b"plain"))
    assert values(client, broker, topic, 2, "read_uncommitted") == [b"open", b"plain"]
    with reader(client, broker, topic) as consumer:
        assert consumer.poll(0.5) == []
        transactional.commit_transaction()
        assert [seen.value for seen in consumer.read(2)] == [b"open", b"plain"]


def test_transaction_of_three_partitions_is_atomic(
    broker: Broker, client: Client, name: str, transactional: TransactionalProducer
) -> None:
    partitions = create_topic(broker.bootstrap, name, 3)
    for value, end in ((b"no", transactional.abort_transaction), (b"yes", transactional.commit_transaction)):
        transactional.begin()
        transactional.send(name, [Record(value, partition=index) for index in range(3)])
        end()
    with client.consumer(broker.bootstrap, partitions=partitions, isolation_level="read_committed") as consumer:
        assert {(seen.partition, seen.value) for seen in consumer.read(3)} == {(index, b"yes") for index in range(3)}


class Pipeline(NamedTuple):
    """A topic that is read, a topic that is written, and the group that reads."""

    source: Partition
    target: str
    group: str


@pytest.fixture
def pipeline(broker: Broker, topic: str) -> Pipeline:
    """A pipeline whose source has three records."""
    target = unique("target")
    create_topic(broker.bootstrap, target)
    with CREATOR.producer(broker.bootstrap) as producer:
        producer.send(topic, made(b"1", b"2", b"3"))
    return Pipeline(Partition(topic, 0), target, unique("pipeline"))


def member(client: Client, broker: Broker, pipeline: Pipeline) -> Consumer:
    return client.consumer(
        broker.bootstrap,
        topics=[pipeline.source.topic],
        group_id=pipeline.group,
        isolation_level="read_committed",
    )


def transform(
    producer: TransactionalProducer, consumer: Consumer, pipeline: Pipeline, seen: Sequence[bytes | None]
) -> None:
    """Begins a transaction with the results, and with the offset after the last record."""
    producer.begin()
    producer.send(pipeline.target, made(*(b"result of " + (value or b"") for value in seen)))
    producer.send_offsets({pipeline.source: 3}, consumer)


def test_offsets_are_committed_with_the_transaction(
    broker: Broker, client: Client, pipeline: Pipeline, transactional: TransactionalProducer
) -> None:
    for end in (transactional.abort_transaction, transactional.commit_transaction):
        with member(client, broker, pipeline) as consumer:
            transform(transactional, consumer, pipeline, [seen.value for seen in consumer.read(3)])
            end()
    results = [b"result of 1", b"result of 2", b"result of 3"]
    assert values(client, broker, pipeline.target, 3) == results
    with CREATOR.admin(broker.bootstrap) as admin:
        assert eventually(lambda: admin.group_offsets(pipeline.group)) == {pipeline.source: 3}


def test_offsets_of_an_open_transaction_are_unstable(
    broker: Broker, client: Client, pipeline: Pipeline, transactional: TransactionalProducer
) -> None:
    def now(require_stable: bool) -> tuple[int, int]:
        return committed_offset(
            partial(ask, broker.bootstrap),
            group=pipeline.group,
            topic=pipeline.source.topic,
            require_stable=require_stable,
        )

    with member(client, broker, pipeline) as consumer:
        consumer.read(3)
        consumer.commit({pipeline.source: (1, "")})
        transform(transactional, consumer, pipeline, [])
        assert now(require_stable=False) == (0, 1)
        assert now(require_stable=True) == (error_codes.UNSTABLE_OFFSET_COMMIT, -1)
        transactional.commit_transaction()
        assert eventually(lambda: now(require_stable=True), lambda found: found[0] == 0) == (0, 3)
        assert now(require_stable=False) == (0, 3)


def test_a_newer_producer_fences_an_older_one(
    broker: Broker, client: Client, topic: str, name: str, transactional: TransactionalProducer
) -> None:
    transactional.begin()
    transactional.send(topic, made(b"of the zombie"))
    with client.transactional(broker.bootstrap, transactional_id=name) as newer:
        newer.begin()
        newer.send(topic, made(b"of the newer one"))
        with refused("PRODUCER_FENCED"):
            transactional.commit_transaction()
        newer.commit_transaction()
    assert values(client, broker, topic, 1) == [b"of the newer one"]


REFUSAL_OF_RECORDS = {"kafka-python": "INVALID_PRODUCER_EPOCH"}
"""kafka-python reports the error of the record. The other libraries report a fenced producer."""


def test_records_of_a_fenced_producer_are_refused(
    broker: Broker, client: Client, topic: str, name: str, transactional: TransactionalProducer
) -> None:
    transactional.begin()
    transactional.send(topic, made(b"of the zombie"))
    with client.transactional(broker.bootstrap, transactional_id=name) as newer:
        newer.begin()
        newer.send(topic, made(b"of the newer one"))
        newer.commit_transaction()
        # After this error kafka-python requests another epoch, which would abort an open
        # transaction of the newer producer.
        with refused(REFUSAL_OF_RECORDS.get(client.name, "PRODUCER_FENCED")):
            transactional.send(topic, made(b"of the zombie, later"))
    assert values(client, broker, topic, 1) == [b"of the newer one"]


def test_broker_aborts_a_transaction_after_its_timeout(broker: Broker, topic: str) -> None:
    """All clients are in one test, because the broker aborts their transactions at the same
    time."""
    with ExitStack() as stack:
        options = {"transaction_timeout_ms": SHORT_TIMEOUT_MS}
        zombies = {
            client.name: stack.enter_context(
                client.transactional(broker.bootstrap, transactional_id=unique(f"{topic}-{client.name}"), **options)
            )
            for client in CLIENTS
        }
        for zombie in zombies.values():
            zombie.begin()
            zombie.send(topic, made(b"open"))
        with CREATOR.producer(broker.bootstrap) as producer:
            producer.send(topic, made(b"plain"))
        assert values(CREATOR, broker, topic, 1) == [b"plain"]
        for zombie in zombies.values():
            with refused("PRODUCER_FENCED"):
                zombie.commit_transaction()
    everything = [b"open"] * len(zombies) + [b"plain"]
    assert values(CREATOR, broker, topic, len(everything), "read_uncommitted") == everything
