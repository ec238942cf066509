"""Dead-letter topic: the program sends what it cannot handle to another topic, which refuses it.

The offset of the order may be committed only after its dead letter was acknowledged. A program that
commits first loses the order when the second topic is not available. The rule refuses the first
write to the dead-letter topic; then the program is started again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer

from kafkadouble import KafkaDouble


class Shop:
    """The program under test."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        own = {"group.id": "shop", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        self.consumer = Consumer({**settings, **own, "log_level": 0})
        self.consumer.subscribe(["orders"])
        self._producer = Producer({**settings, "log_level": 0})

    def handle_next(self) -> None:
        message = self.consumer.poll(10)
        assert message is not None
        if not (message.value() or b"").isdigit():
            self._send_to_dead_letters(message)
        self.consumer.commit(message=message, asynchronous=False)

    def _send_to_dead_letters(self, message: Message) -> None:
        errors: list[KafkaError | None] = []
        headers: dict[str, str | bytes | None] = {"offset": str(message.offset()), "reason": "no number"}
        self._producer.produce(
            "orders.dead",
            message.value(),
            message.key(),
            headers=headers,
            on_delivery=lambda error, _: errors.append(error),
        )
        self._producer.flush(10)
        if not errors or errors[0] is not None:
            raise RuntimeError(f"the dead letter was not written: {errors}")


def test_order_is_kept_until_its_dead_letter_is_written(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("orders")
    kafka_double.create_topic("orders.dead")
    kafka_double.produce("orders", "two pears", key="42")
    kafka_double.fail("Produce", "TOPIC_AUTHORIZATION_FAILED", topic="orders.dead")

    first = Shop(kafka_double.client_config())
    with pytest.raises(RuntimeError, match="TOPIC_AUTHORIZATION_FAILED"):
        first.handle_next()
    first.consumer.close()
    second = Shop(kafka_double.client_config())
    second.handle_next()

    (dead,) = kafka_double.records("orders.dead")
    assert (dead.key, dead.text(), dead.header("offset")) == (b"42", "two pears", b"0")
    assert kafka_double.wait_for_group("shop", lag=0).offsets["orders", 0].offset == 1
    second.consumer.close()
