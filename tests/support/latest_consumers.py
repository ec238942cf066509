"""Consumers of a group that begin at the end of a topic, each in a thread of its own, with every
client library of the tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import aiokafka
import kafka as kafka_python
from confluent_kafka import Consumer

TOPIC = "orders"
POLL_MS = 50

HEARTBEAT_MS = 200
"""Members hear of a rebalance with their next heartbeat."""

Take = Callable[[bytes], object]


def _confluent(bootstrap: str, take: Take, is_over: threading.Event, **more: Any) -> None:
    settings = {"bootstrap.servers": bootstrap, "group.id": "shop", "auto.offset.reset": "latest", **more}
    if "group.protocol" not in more:
        settings["heartbeat.interval.ms"] = HEARTBEAT_MS
    consumer = Consumer(settings)
    consumer.subscribe([TOPIC])
    while not is_over.is_set():
        message = consumer.poll(POLL_MS / 1000)
        if message is not None and not message.error():
            take(message.value() or b"")
    consumer.close()


def _kip_848(bootstrap: str, take: Take, is_over: threading.Event) -> None:
    _confluent(bootstrap, take, is_over, **{"group.protocol": "consumer"})


def _kafka_python(bootstrap: str, take: Take, is_over: threading.Event) -> None:
    consumer = kafka_python.KafkaConsumer(
        TOPIC,
        bootstrap_servers=bootstrap,
        group_id="shop",
        auto_offset_reset="latest",
        heartbeat_interval_ms=HEARTBEAT_MS,
    )
    # This waits for metadata: a consumer that joins earlier may never look for its position.
    consumer.topics()
    while not is_over.is_set():
        for records in consumer.poll(POLL_MS).values():
            for record in records:
                take(record.value)
    consumer.close()


def _aiokafka(bootstrap: str, take: Take, is_over: threading.Event) -> None:
    asyncio.run(_with_aiokafka(bootstrap, take, is_over))


async def _with_aiokafka(bootstrap: str, take: Take, is_over: threading.Event) -> None:
    async with aiokafka.AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=bootstrap,
        group_id="shop",
        auto_offset_reset="latest",
        heartbeat_interval_ms=HEARTBEAT_MS,
    ) as consumer:
        while not is_over.is_set():
            for records in (await consumer.getmany(timeout_ms=POLL_MS)).values():
                for record in records:
                    take(record.value)


LIBRARIES: dict[str, Callable[[str, Take, threading.Event], None]] = {
    "aiokafka": _aiokafka,
    "confluent-kafka": _confluent,
    "confluent-kafka, KIP-848": _kip_848,
    "kafka-python": _kafka_python,
}


@contextmanager
def reading(library: str, bootstrap: str, taken: list[bytes]) -> Iterator[None]:
    """A consumer reads into `taken` until the end of the block."""
    is_over = threading.Event()
    thread = threading.Thread(target=LIBRARIES[library], args=(bootstrap, taken.append, is_over))
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
