"""Unclean leader: a broker is elected that lacks records which consumers have read.

A program that copies a topic then has records that are not in it any more. With
`auto.offset.reset=error` the client reports the truncation (KIP-320), and the program must make its
copy again. With another policy the client goes on where the logs diverge, and the copy stays wrong.
`truncate` does what the election of such a broker does to the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition

from kafkadouble import KafkaDouble


class Copy:
    """The program under test. `values` is a copy of the topic's only partition."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        own = {"group.id": "copy", "auto.offset.reset": "error", "enable.auto.commit": False, "log_level": 0}
        self._settings = {**settings, **own}
        self._begin()

    def read(self, until: str) -> list[str]:
        """Reads until the copy ends with this value, or nothing came for 100 polls."""
        for _ in range(100):
            if self.values[-1:] == [until]:
                break
            message = self.consumer.poll(0.1)
            if message is None:
                continue
            error = message.error()
            if error is None:
                self.values.append((message.value() or b"").decode())
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                self.consumer.close()
                self._begin()
        return self.values

    def _begin(self) -> None:
        self.values: list[str] = []
        self.consumer = Consumer(self._settings)
        self.consumer.assign([TopicPartition("orders", 0, 0)])


def test_copy_forgets_what_an_unclean_election_has_lost(kafka_double: KafkaDouble) -> None:
    kafka_double.produce("orders", "one")
    kafka_double.produce("orders", "two")
    copy = Copy(kafka_double.client_config())
    assert copy.read("two") == ["one", "two"]

    kafka_double.truncate("orders", 0, 1)
    kafka_double.produce("orders", "three")

    assert copy.read("three") == ["one", "three"]
    copy.consumer.close()
