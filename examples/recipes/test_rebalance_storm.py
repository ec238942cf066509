"""Rebalance storm: the group rebalances again and again, as when members start and stop.

Each rebalance takes the partitions away, and the next owner begins at the committed offset. The
program commits only after ten orders, so it must also commit what it has handled before it gives
partitions up; otherwise each rebalance lets it handle orders twice. The test lets the group
rebalance after each third order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from kafkadouble import KafkaDouble

BATCH = 10


class Shop:
    """The program under test. `handled` has each order that it has handled."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.handled: list[bytes] = []
        self.rebalances = 0
        self._open: dict[int, int] = {}
        own = {"group.id": "shop", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        self.consumer = Consumer({**settings, **own, "heartbeat.interval.ms": 50, "log_level": 0})
        self.consumer.subscribe(["orders"], on_revoke=self._give_up)

    def handle_next(self, timeout: float = 10) -> None:
        message = self.consumer.poll(timeout)
        if message is None or message.error() is not None:
            return
        self.handled.append(message.value() or b"")
        self._open[message.partition() or 0] = (message.offset() or 0) + 1
        if len(self.handled) % BATCH == 0:
            self._commit()

    def _give_up(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.rebalances += 1
        self._commit()

    def _commit(self) -> None:
        offsets = [TopicPartition("orders", partition, offset) for partition, offset in self._open.items()]
        self._open.clear()
        if offsets:
            self.consumer.commit(offsets=offsets, asynchronous=False)


def test_each_order_is_handled_once_while_the_group_rebalances(kafka_double: KafkaDouble) -> None:
    orders = [f"order {number}" for number in range(12)]
    kafka_double.create_topic("orders")
    kafka_double.produce_all("orders", orders)
    shop = Shop(kafka_double.client_config())

    for count in (3, 6, 9):
        while len(shop.handled) < count or kafka_double.groups()["shop"].state != "Stable":
            shop.handle_next(0.05)
        before = shop.rebalances
        kafka_double.rebalance("shop")
        while shop.rebalances == before:
            shop.handle_next(0.05)
    while len(set(shop.handled)) < len(orders):
        shop.handle_next()

    assert [order.decode() for order in shop.handled] == orders
    shop.consumer.close()
