"""Poison record: a record that the program cannot read, between records that it can.

A program that ends at such a record is started again, reads it again, and ends again; everything
behind it waits. The program must note the record, commit its offset, and go on. The test produces
such a record with one call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer

from kafkadouble import KafkaDouble


class Shop:
    """The program under test."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.items: list[str] = []
        self.unreadable: list[int | None] = []
        own = {"group.id": "shop", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        self.consumer = Consumer({**settings, **own, "log_level": 0})
        self.consumer.subscribe(["orders"])

    def handle_next(self) -> None:
        message = self.consumer.poll(10)
        assert message is not None
        assert message.error() is None
        try:
            self.items.append(json.loads(message.value() or b"")["item"])
        except (ValueError, KeyError, TypeError):
            self.unreadable.append(message.offset())
        self.consumer.commit(message=message, asynchronous=False)


def test_shop_goes_on_after_a_poison_record(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("orders")
    kafka_double.produce_all("orders", ['{"item": "pear"}', b"\x00\xff no JSON", '"no object"', '{"item": "plum"}'])
    shop = Shop(kafka_double.client_config())

    for _ in range(4):
        shop.handle_next()

    assert shop.items == ["pear", "plum"]
    assert shop.unreadable == [1, 2]
    assert kafka_double.wait_for_group("shop", lag=0).offsets["orders", 0].offset == 4
    shop.consumer.close()
