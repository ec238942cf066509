"""Tells customers of their invoices: a consumer group of the protocol of KIP-848."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer

from .worker import INVOICES

GROUP = "notifiers"
POLL_S, PATIENCE_S = 0.2, 30.0


class Notifier:
    """One member of the group. `told` has the customer of each notice."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        own = {"group.id": GROUP, "group.protocol": "consumer", "auto.offset.reset": "earliest"}
        self.told: list[str] = []
        self._consumer = Consumer({**settings, **own, "enable.auto.commit": False, "log_level": 0})
        self._consumer.subscribe([INVOICES])

    def poll(self, timeout: float = POLL_S) -> None:
        """Handles at most one invoice."""
        message = self._consumer.poll(timeout)
        if message is not None and message.error() is None:
            self.told.append(str(message.key() or b"", "utf-8"))
            self._consumer.commit(message=message, asynchronous=False)

    def tell(self, count: int) -> list[str]:
        """Handles invoices until so many customers were told."""
        end = time.monotonic() + PATIENCE_S
        while len(self.told) < count and time.monotonic() < end:
            self.poll()
        return self.told

    def close(self) -> None:
        """Leaves the group."""
        self._consumer.close()
