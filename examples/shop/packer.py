"""Packs orders: a share group, whose members take orders one by one, and give back what they cannot
pack now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import AcknowledgeType, Message, ShareConsumer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from .outbox import ORDERS

GROUP = "packers"
POLL_S, PATIENCE_S = 0.5, 40.0
PACK, LATER, NEVER = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT

Decision = Callable[[Message], AcknowledgeType]


def read_from_the_start(settings: Mapping[str, Any]) -> None:
    """Lets the group begin with the first order; Kafka's default is the next one."""
    entry = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    group = ConfigResource(ConfigResource.Type.GROUP, GROUP, incremental_configs=[entry])
    admin = AdminClient({**settings})
    admin.incremental_alter_configs([group])[group].result(PATIENCE_S)


class Packer:
    """One member of the group. `decide` says what becomes of an order; `seen` has the text of each
    delivery."""

    def __init__(self, settings: Mapping[str, Any], decide: Decision = lambda _: PACK) -> None:
        self.seen: list[str] = []
        self._decide = decide
        own = {"group.id": GROUP, "share.acknowledgement.mode": "explicit", "log_level": 0}
        self._consumer = ShareConsumer({**settings, **own})
        self._consumer.subscribe([ORDERS])

    def pack(self, count: int) -> list[str]:
        """Takes orders until there were so many deliveries."""
        end = time.monotonic() + PATIENCE_S
        while len(self.seen) < count and time.monotonic() < end:
            self.poll()
        return self.seen

    def poll(self, timeout: float = POLL_S) -> None:
        """Takes what there is."""
        for message in self._consumer.poll(timeout):
            if message.error() is None:
                self.seen.append(str(message.value() or b"", "utf-8"))
                self._consumer.acknowledge(message, self._decide(message))
        self._consumer.commit_sync(PATIENCE_S)

    def close(self) -> None:
        """Leaves the group."""
        self._consumer.close()
