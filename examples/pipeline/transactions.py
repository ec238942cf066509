"""Orders in transactions: committed, aborted, of a producer that is fenced, and open.

The orders of all of them are in the log. A reader with `read_committed` gets only the committed
ones.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from confluent_kafka import KafkaError, KafkaException, Producer

from . import orders

SIZE = 50
"""The number of orders in a transaction."""
PATIENCE_S = 60
TIMEOUT_MS = 900_000
"""So long that the broker aborts no transaction."""
QUIET = logging.Logger("transactions", logging.CRITICAL + 1)
"""Hides retries, and that the zombie is fenced, which librdkafka reports as fatal."""


def begin(bootstrap: str, transactional_id: str, numbers: Sequence[int], codec: str = "none") -> Producer:
    """Writes these orders in a transaction, and leaves it open."""
    producer = _producer(bootstrap, transactional_id, codec)
    _write(producer, numbers)
    return producer


def commit(producer: Producer) -> None:
    producer.commit_transaction(PATIENCE_S)


def write(bootstrap: str, kept: Sequence[int], cancelled: Sequence[int]) -> int:
    """Writes the kept orders in transactions that are committed, and as many cancelled ones in
    transactions that are aborted. At any time one of each is open. Returns the number of
    transactions of each kind."""
    shop, cancelling = _producer(bootstrap, "shop", "lz4"), _producer(bootstrap, "cancelling", "zstd")
    begins = range(0, len(kept), SIZE)
    for at in begins:
        _write(shop, kept[at : at + SIZE])
        _write(cancelling, cancelled[at : at + SIZE])
        commit(shop)
        cancelling.abort_transaction(PATIENCE_S)
    return len(begins)


def take_over(bootstrap: str, numbers: Sequence[int]) -> None:
    """Writes these orders by a producer that becomes a zombie: before it commits, a successor with
    the same transactional id fences it, and writes them again. Raises RuntimeError when the zombie
    could commit."""
    zombie = begin(bootstrap, "till", numbers, "snappy")
    successor = begin(bootstrap, "till", numbers, "gzip")
    try:
        commit(zombie)
    except KafkaException as fenced:
        if fenced.args[0].code() != KafkaError._FENCED:
            raise
    else:
        raise RuntimeError("the zombie was not fenced")
    commit(successor)


def _producer(bootstrap: str, transactional_id: str, codec: str) -> Producer:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": TIMEOUT_MS,
            "compression.type": codec,
            "linger.ms": 20,
            "error_cb": lambda error: None,
        },
        logger=QUIET,
    )
    producer.init_transactions(PATIENCE_S)
    return producer


def _write(producer: Producer, numbers: Sequence[int]) -> None:
    producer.begin_transaction()
    for number in numbers:
        key, value = orders.order(number)
        producer.produce(orders.TOPIC, value, key=key)
    if producer.flush(PATIENCE_S):
        raise RuntimeError(f"not all orders from {numbers[0]} on were taken")
