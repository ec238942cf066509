"""Sends the rows of an outbox to Kafka: each row once, in order, however often it is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Producer

ORDERS = "orders"
DELIVERY_MS, ANSWER_MS = 20_000, 2_000


@dataclass
class Row:
    """An order that was stored with the data of the shop."""

    customer: str
    text: str
    is_sent: bool = False


class Outbox:
    """The rows, and the producer that sends them."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.rows: list[Row] = []
        limits = {"message.timeout.ms": DELIVERY_MS, "socket.timeout.ms": ANSWER_MS, "request.timeout.ms": ANSWER_MS}
        own = {"client.id": "outbox", "enable.idempotence": True, "log_level": 0}
        self._producer = Producer({**settings, **own, **limits})

    def add(self, customer: str, text: str) -> None:
        """Stores an order."""
        self.rows.append(Row(customer, text))

    def relay(self) -> int:
        """Sends what was not sent yet; returns how many rows were."""
        waiting = [row for row in self.rows if not row.is_sent]
        for row in waiting:
            self._producer.produce(
                ORDERS, row.text, row.customer, headers=[("source", b"outbox")], on_delivery=_marking(row)
            )
        self._producer.flush()
        return sum(row.is_sent for row in waiting)


def _marking(row: Row) -> Any:
    def delivered(error: Any, _: Any) -> None:
        row.is_sent = error is None

    return delivered
