"""Transactional producers of librdkafka, and what a consumer reads of their transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import confluent_kafka

from .deeds import Ledger

ck: Any = confluent_kafka
TIMEOUT_S = 60


def producer(bootstrap: str, transactional_id: str) -> Any:
    """A producer that can begin a transaction: those of earlier producers with its id are
    complete."""
    settings = {"transactional.id": transactional_id, "transaction.timeout.ms": 120_000}
    found = ck.Producer({**Ledger(bootstrap).client(), **settings})
    found.init_transactions(TIMEOUT_S)
    return found


def send(to: Any, topic: str, word: str, partitions: Sequence[int] = (0, 1)) -> None:
    """Sends one record to each partition in a transaction that stays open."""
    to.begin_transaction()
    for index in partitions:
        to.produce(topic, word.encode(), partition=index)
    assert to.flush(TIMEOUT_S) == 0


def read(bootstrap: str, topic: str, isolation: str = "read_committed", partitions: int = 2) -> list[list[str]]:
    """The values of each partition, up to its end or to an open transaction."""
    settings = {"group.id": "g", "enable.partition.eof": True, "isolation.level": isolation}
    consumer = ck.Consumer({**Ledger(bootstrap).client(), **settings})
    consumer.assign([ck.TopicPartition(topic, index, 0) for index in range(partitions)])
    found: list[list[str]] = [[] for _ in range(partitions)]
    ends = 0
    while ends < partitions:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None
        if message.error() is None:
            found[message.partition()].append(message.value().decode())
        else:
            assert message.error().code() == ck.KafkaError._PARTITION_EOF, message.error()
            ends += 1
    consumer.close()
    return found
