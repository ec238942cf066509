"""Slow network: requests and answers arrive, and much later than usual.

The caller of the program waits only for a moment. When that is over, the order is neither sent nor
lost: it is under way. The program must say so, and must not send it again; the producer still
waits for the answer. The rule delays all bytes by 20 seconds of the stepped clock, which pass when
the test says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Producer

from kafkadouble import KafkaDouble

PATIENCE_S = 0.2


class Orders:
    """The program under test."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.states: dict[str, str] = {}
        self._producer = Producer({**settings, "log_level": 0})

    def send(self, order: str, patience: float = PATIENCE_S) -> str:
        """The state of the order after a moment: sent, failed or pending."""
        if order not in self.states:
            self.states[order] = "pending"
            self._producer.produce("orders", order, on_delivery=lambda error, _: self._note(order, error))
        self._producer.flush(patience)
        return self.states[order]

    def _note(self, order: str, error: object) -> None:
        self.states[order] = "failed" if error else "sent"


@pytest.mark.kafka_double(stepped=True)
def test_order_on_a_slow_network_is_sent_once(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("orders")
    orders = Orders(kafka_double.client_config())
    assert orders.send("two pears", 10) == "sent"

    with kafka_double.latency(20):
        assert orders.send("three plums") == "pending"
        assert orders.send("three plums") == "pending"
        kafka_double.advance(60)
    assert orders.send("three plums", 10) == "sent"

    assert [record.text() for record in kafka_double.records("orders")] == ["two pears", "three plums"]
