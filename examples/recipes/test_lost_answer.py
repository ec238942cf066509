"""Lost answer: the broker appends a record, and the connection breaks before the answer is sent.

The producer cannot know whether the record was appended, and sends it again. The program must be
idempotent: an order may not be appended twice. The rule closes the connection after the broker has
processed the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Producer

from kafkadouble import KafkaDouble


class Orders:
    """The program under test."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._producer = Producer({**settings, "enable.idempotence": True, "log_level": 0})

    def send(self, order: str) -> None:
        self._producer.produce("orders", order)
        assert self._producer.flush(10) == 0


def test_order_is_appended_once_if_the_answer_is_lost(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("orders")
    rule = kafka_double.disconnect("Produce", after=True)

    Orders(kafka_double.client_config()).send("two pears")

    assert rule.hits == 1
    kafka_double.requests.assert_seen("Produce", times=2)
    assert [record.text() for record in kafka_double.records("orders")] == ["two pears"]
