"""Outage: Kafka does not answer for a while, and comes back with its data.

The producer gives records up after `message.timeout.ms`. The program must read each delivery
report, keep what was not acknowledged, and send it again in the same order. The test takes the
broker down and up again; topics and records stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from kafkadouble import KafkaDouble


class Outbox:
    """The program under test. `rows` are the orders that are not sent yet."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.rows: list[str] = []
        own = {"message.timeout.ms": 1000, "max.in.flight": 1, "reconnect.backoff.max.ms": 100}
        self._producer = Producer({**settings, **own, "log_level": 0})

    def relay(self) -> None:
        """Sends the rows, and removes those that were acknowledged."""
        acknowledged: list[str] = []
        for row in self.rows:
            self._producer.produce("orders", row, on_delivery=self._note(row, acknowledged))
        self._producer.flush(10)
        self.rows = [row for row in self.rows if row not in acknowledged]

    def _note(self, row: str, acknowledged: list[str]) -> Any:
        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is None:
                acknowledged.append(row)

        return delivered


def relay_all(outbox: Outbox) -> None:
    """Relays until no row is left, at most 20 times."""
    for _ in range(20):
        if outbox.rows:
            outbox.relay()
    assert outbox.rows == []


def test_orders_of_an_outage_are_sent_after_it(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("orders")
    outbox = Outbox(kafka_double.client_config())
    outbox.rows = ["two pears"]
    relay_all(outbox)

    kafka_double.down()
    outbox.rows += ["three plums", "a melon"]
    outbox.relay()
    assert outbox.rows == ["three plums", "a melon"]
    kafka_double.up()
    relay_all(outbox)

    assert [record.text() for record in kafka_double.records("orders")] == ["two pears", "three plums", "a melon"]
