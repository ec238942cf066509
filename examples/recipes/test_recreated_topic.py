"""Re-created topic: a topic is deleted and created again, with the same name, while a consumer
reads it.

The position of the consumer is behind the end of the new topic, and `auto.offset.reset` says where
it goes on. With `latest` the records that were produced before it noticed are skipped; with
`earliest` none is. The test deletes the topic and creates it again, with one new record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer

from kafkadouble import KafkaDouble


class Shop:
    """The program under test."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.handled: list[str] = []
        own = {"group.id": "shop", "auto.offset.reset": "earliest", "topic.metadata.refresh.interval.ms": 200}
        self.consumer = Consumer({**settings, **own, "log_level": 0})
        self.consumer.subscribe(["orders"])

    def handle(self, count: int) -> list[str]:
        """Handles orders until there were so many, or none came for 50 polls."""
        for _ in range(50):
            if len(self.handled) == count:
                break
            message = self.consumer.poll(0.1)
            if message is not None and message.error() is None:
                self.handled.append((message.value() or b"").decode())
        return self.handled


def test_orders_of_a_topic_that_was_created_again_are_handled(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("orders")
    kafka_double.produce_all("orders", ["one", "two", "three"])
    shop = Shop(kafka_double.client_config())
    assert shop.handle(3) == ["one", "two", "three"]

    kafka_double.delete_topic("orders")
    kafka_double.create_topic("orders")
    kafka_double.produce("orders", "two pears")

    assert shop.handle(4) == ["one", "two", "three", "two pears"]
    shop.consumer.close()
