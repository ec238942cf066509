"""The fixtures of the suite: the topics of the shop, and its programs, which end with a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

import pytest

from examples.shop.notifier import Notifier
from examples.shop.outbox import ORDERS, Outbox
from examples.shop.packer import Packer, read_from_the_start
from examples.shop.worker import DEAD_LETTERS, INVOICES, Worker
from kafkadouble import KafkaDouble

PEARS = '{"item": "pear", "price": 2, "count": 3}'


P = TypeVar("P", Worker, Notifier, Packer)


class Shop:
    """The programs of the shop, as clients of one Kafka."""

    def __init__(self, kafka: KafkaDouble, running: ExitStack) -> None:
        self.kafka, self._running = kafka, running
        self.settings = kafka.client_config()
        self.outbox = Outbox(self.settings)

    def order(self, *texts: str, customer: str = "ann") -> None:
        """Produces orders to one partition."""
        for text in texts:
            self.kafka.produce(ORDERS, text, customer, partition=0)

    def invoice(self, *customers: str, partition: int = 0) -> None:
        """Produces an invoice of each customer."""
        for customer in customers:
            self.kafka.produce(INVOICES, PEARS, customer, partition=partition)

    def worker(self) -> Worker:
        """A new worker."""
        return self._ended(Worker(self.settings))

    def notifier(self) -> Notifier:
        """A new notifier."""
        return self._ended(Notifier(self.settings))

    def packer(self, *decide: Any) -> Packer:
        """A new packer, in a group that begins with the first order."""
        read_from_the_start(self.settings)
        return self._ended(Packer(self.settings, *decide))

    def _ended(self, program: P) -> P:
        self._running.callback(program.close)
        return program


@pytest.fixture
def shop(kafka_double: KafkaDouble) -> Iterator[Shop]:
    """The shop, with its topics."""
    for topic, partitions in ((ORDERS, 1), (INVOICES, 2), (DEAD_LETTERS, 1)):
        kafka_double.create_topic(topic, partitions)
    with ExitStack() as running:
        yield Shop(kafka_double, running)
