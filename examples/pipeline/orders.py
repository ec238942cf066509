"""Orders, as the services of a shop send them: with every codec, and some of them twice."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable

from confluent_kafka import KafkaError, Message, Producer

TOPIC = "orders"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PRODUCTS = ("apples", "bread", "cheese", "dates", "eggs", "figs")
CUSTOMERS = 200
FIRST_AT = 1_767_225_600_000
"""The time of the first order, the beginning of 2026 in ms. Each further order is `EVERY` ms
later."""
EVERY = 100
TWICE = 0.02
"""The share of orders that are sent again, by a service that did not get the first answer."""


def order(number: int) -> tuple[str, str]:
    """The key and value of an order; the same for the same number."""
    chosen = random.Random(number)
    customer = f"customer-{chosen.randrange(CUSTOMERS)}"
    fields = {
        "order_id": number,
        "customer": customer,
        "product": chosen.choice(PRODUCTS),
        "cents": chosen.randrange(100, 10_000),
        "at": FIRST_AT + number * EVERY,
    }
    return customer, json.dumps(fields)


def write(bootstrap: str, numbers: Iterable[int]) -> Counter[str]:
    """Sends these orders, a hundred at a time with each codec. Returns the number of acknowledged
    records for each codec. Raises RuntimeError when a record was not acknowledged."""
    acknowledged: Counter[str] = Counter()
    producers = {codec: _producer(bootstrap, codec) for codec in CODECS}
    for number in numbers:
        codec = CODECS[number // 100 % len(CODECS)]
        for _ in range(2 if random.Random(-number).random() < TWICE else 1):
            _send(producers[codec], codec, number, acknowledged)
    for producer in producers.values():
        producer.flush(60)
    return acknowledged


def _producer(bootstrap: str, codec: str) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "compression.type": codec,
            "enable.idempotence": True,
            "linger.ms": 20,
            "queue.buffering.max.messages": 1_000_000,
            # Hides retries. `on_delivery` reports what the client gives up.
            "log_level": 0,
        }
    )


def _send(producer: Producer, codec: str, number: int, acknowledged: Counter[str]) -> None:
    def on_delivery(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise RuntimeError(f"order {number} was not taken: {error}")
        acknowledged[codec] += 1

    key, value = order(number)
    producer.produce(TOPIC, value, key=key, on_delivery=on_delivery)
    producer.poll(0)
