"""Throttled producer: a quota slows the program down, and its buffer fills.

`produce` then raises BufferError. The program must wait for room, and must not drop the order. The
rule answers the first request with a throttle time of a minute, and reads nothing more from the
connection (KIP-219); the minute passes when the test says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Producer

from kafkadouble import KafkaDouble


class Orders:
    """The program under test."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.full = 0
        own = {"queue.buffering.max.messages": 10, "max.in.flight.requests.per.connection": 1, "linger.ms": 0}
        self._producer = Producer({**settings, **own, "log_level": 0})

    def send(self, order: str) -> None:
        while True:
            try:
                return self._producer.produce("orders", order)
            except BufferError:
                self.full += 1
                self._producer.poll(0.1)

    def send_all(self, orders: list[str]) -> int:
        for order in orders:
            self.send(order)
        return self._producer.flush(10)


@pytest.mark.kafka_double(stepped=True)
def test_no_order_is_dropped_while_the_producer_is_throttled(kafka_double: KafkaDouble) -> None:
    sent = [f"order {number}" for number in range(30)]
    kafka_double.create_topic("orders")
    rule = kafka_double.throttle("Produce", 60)
    orders = Orders(kafka_double.client_config())

    with ThreadPoolExecutor() as threads:
        sending = threads.submit(orders.send_all, sent)
        rule.wait()
        while not orders.full:
            assert not sending.done()
        kafka_double.advance(61)
        assert sending.result(20) == 0

    assert [record.text() for record in kafka_double.records("orders")] == sent
