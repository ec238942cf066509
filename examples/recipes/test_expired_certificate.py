"""Expired certificate: the brokers show a certificate that is not valid any more.

The producer reports that only to `error_cb`, and tries again for ever. The health check of the
program must say what is wrong, and be well again when the certificate was renewed, without a
restart. The test changes the certificate while the broker runs; TLS needs
`pip install 'kafkadouble[security]'`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer

from kafkadouble import KafkaDouble


class Orders:
    """The program under test."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.health = "starting"
        own = {"error_cb": self._note, "reconnect.backoff.max.ms": 100}
        self._producer = Producer({**settings, **own, "log_level": 0})

    def send(self, order: str) -> None:
        self._producer.produce("orders", order, on_delivery=self._delivered)

    def poll(self, is_done: Callable[[], bool]) -> None:
        for _ in range(50):
            if not is_done():
                self._producer.poll(0.1)

    def _note(self, error: KafkaError) -> None:
        if "certificate" in error.str():
            self.health = error.str()

    def _delivered(self, error: object, _: object) -> None:
        self.health = "well" if error is None else str(error)


@pytest.mark.kafka_double(security="SSL", certificate="expired")
def test_health_says_that_the_certificate_has_expired(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("orders")
    orders = Orders(kafka_double.client_config())
    orders.send("two pears")

    orders.poll(lambda: orders.health != "starting")
    assert "certificate verify failed" in orders.health
    kafka_double.set_certificate("valid")
    orders.poll(lambda: orders.health == "well")

    assert orders.health == "well"
    assert [record.text() for record in kafka_double.records("orders")] == ["two pears"]
