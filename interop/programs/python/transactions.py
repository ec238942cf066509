"""Ten committed records, ten aborted, ten committed: a consumer with read_committed sees twenty.

Each client has a producer with the same five verbs. The shape of `interop/clients` has none, since
the double does not serve transactions yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import confluent_kafka
from aiokafka import AIOKafkaProducer
from kafka import KafkaProducer

from interop.clients import Client, aio
from interop.clients.shape import Partition
from interop.walks.promise import Record, record

# Its type stubs cover only half of what is used here.
confluent: Any = confluent_kafka

PARTS = ((0, True), (10, False), (20, True))
"""The first record of each transaction, and whether it is committed."""
SIZE = 10

Transact = Callable[[str, str, Sequence[Record], bool], None]


def _kafka_python(bootstrap: str, topic: str, records: Sequence[Record], commit: bool) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=topic)
    try:
        producer.init_transactions()
        producer.begin_transaction()
        sent = [producer.send(topic, one.value, one.key) for one in records]
        producer.flush()
        for one in sent:
            one.get(30)
        (producer.commit_transaction if commit else producer.abort_transaction)()
    finally:
        producer.close(timeout=5)


def _aiokafka(bootstrap: str, topic: str, records: Sequence[Record], commit: bool) -> None:
    aio.run(_coroutine(bootstrap, topic, records, commit))


async def _coroutine(bootstrap: str, topic: str, records: Sequence[Record], commit: bool) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=topic) as producer:
        await producer.begin_transaction()
        for one in records:
            await producer.send_and_wait(topic, one.value, one.key)
        await (producer.commit_transaction if commit else producer.abort_transaction)()


def _confluent(bootstrap: str, topic: str, records: Sequence[Record], commit: bool) -> None:
    producer = confluent.Producer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    for one in records:
        producer.produce(topic, one.value, one.key)
    assert producer.flush(30) == 0
    (producer.commit_transaction if commit else producer.abort_transaction)(30)


TRANSACT: Mapping[str, Transact] = {
    "kafka-python": _kafka_python,
    "aiokafka": _aiokafka,
    "confluent-kafka": _confluent,
}


def transact(client: Client, bootstrap: str, topic: str) -> None:
    """Writes and checks the transactions. Raises AssertionError, or the client's own error."""
    with client.admin(bootstrap) as admin:
        admin.create_topic(topic, 1)
    for first, commit in PARTS:
        TRANSACT[client.name](bootstrap, topic, _part(first), commit)
    expected = [one.value for first, commit in PARTS if commit for one in _part(first)]
    partitions = [Partition(topic, 0)]
    with client.consumer(bootstrap, partitions=partitions, isolation_level="read_committed") as reader:
        assert [one.value for one in reader.read(len(expected))] == expected


def _part(first: int) -> list[Record]:
    return [record("none", number) for number in range(first, first + SIZE)]
