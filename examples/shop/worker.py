"""Makes an invoice of each order, exactly once: the invoice and the offset of the order are in one
transaction. An order that is no JSON goes to the dead letters, in the same transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from .outbox import ORDERS

INVOICES, DEAD_LETTERS = "invoices", "orders.dead"
GROUP = "workers"
POLL_S, TRANSACTION_S = 20.0, 30.0


class Worker:
    """One worker; a later one with the same id fences it."""

    def __init__(self, settings: Mapping[str, Any], transactional_id: str = "worker") -> None:
        reading = {"group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        self.consumer = Consumer({**settings, **reading, "log_level": 0})
        self.consumer.subscribe([ORDERS])
        self.producer = Producer({**settings, "transactional.id": transactional_id, "log_level": 0})
        self.producer.init_transactions(TRANSACTION_S)

    def work(self, count: int = 1) -> None:
        """Handles so many orders, each in a transaction of its own."""
        for _ in range(count):
            self.begin()
            self.commit()

    def begin(self) -> None:
        """Handles the next order, without the end of its transaction."""
        message = self.consumer.poll(POLL_S)
        assert message is not None
        assert message.error() is None
        self.producer.begin_transaction()
        self._handle(message)
        at = TopicPartition(message.topic() or "", message.partition() or 0, (message.offset() or 0) + 1)
        self.producer.send_offsets_to_transaction([at], self.consumer.consumer_group_metadata(), TRANSACTION_S)

    def commit(self) -> None:
        """Ends the transaction."""
        self.producer.commit_transaction(TRANSACTION_S)

    def give_up(self) -> None:
        """Aborts the transaction; the next worker handles the order again."""
        self.producer.abort_transaction(TRANSACTION_S)

    def close(self) -> None:
        """Leaves the group."""
        self.consumer.close()

    def _handle(self, message: Message) -> None:
        value = message.value() or b""
        try:
            order = json.loads(value)
            invoice = {"item": order["item"], "total": order["price"] * order["count"]}
        except (ValueError, KeyError) as problem:
            headers: dict[str, str | bytes | None] = {
                "reason": type(problem).__name__,
                "offset": str(message.offset()),
            }
            self.producer.produce(DEAD_LETTERS, value, message.key(), headers=headers)
        else:
            self.producer.produce(INVOICES, json.dumps(invoice), message.key())
        self.producer.flush(TRANSACTION_S)
