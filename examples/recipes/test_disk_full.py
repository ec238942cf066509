"""Disk full: the leader of a partition cannot append, and its log directory goes offline.

The broker answers KAFKA_STORAGE_ERROR, and another replica becomes the leader. A program with
`acks=0` does not learn that its records are lost. The program must wait for the acknowledgement of
all in-sync replicas and let the producer try again. The rule fails the next append of the leader as
a full disk does; then the other broker leads.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Producer

from kafkadouble import KafkaDouble


class Orders:
    """The program under test. `acknowledged` has the orders that it counts as sent."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.acknowledged: list[str] = []
        own = {"acks": "all", "retry.backoff.ms": 20, "topic.metadata.refresh.fast.interval.ms": 20}
        self._producer = Producer({**settings, **own, "log_level": 0})

    def send(self, order: str) -> None:
        self._producer.produce("orders", order, on_delivery=lambda error, _: self._note(order, error))
        self._producer.flush(10)

    def _note(self, order: str, error: object) -> None:
        if error is None:
            self.acknowledged.append(order)


@pytest.mark.kafka_double(brokers=2, stepped=True, data_dir=True)
def test_order_is_appended_by_another_broker_if_a_disk_is_full(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("orders", replication_factor=2)
    kafka_double.move_leader("orders", 0, to=1)
    kafka_double.advance(1)
    orders = Orders(kafka_double.client_config())
    full = kafka_double.disk_full(broker=1, topic="orders")

    with ThreadPoolExecutor() as threads:
        sending = threads.submit(orders.send, "two pears")
        full.wait()
        while not sending.done():
            kafka_double.advance(0.1)

    assert kafka_double.leader("orders", 0) == 2
    assert orders.acknowledged == [record.text() for record in kafka_double.records("orders")] == ["two pears"]
