"""A broker on disks that coordinates every transactional id, and that restarts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkadouble.server.transactions.transaction_metadata import TransactionMetadata
from tests.server.machine import Machine
from tests.server.topic_requests import creating
from tests.server.transactions.broker import SETTINGS


class Restarted(Machine):
    """A broker on disks, with the topic "t"."""

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        super().__init__({**SETTINGS, **(settings or {})})
        self.node.controller.create_internal_topic(TRANSACTION_STATE)
        self.node.controller.create_internal_topic(CONSUMER_OFFSETS)
        self.ask(creating("t", partitions=2), 7)

    def ask(self, body: Message, version: int) -> Any:
        pending = self.begin(body, version)
        self.flush()
        while self.node.waiting.is_busy and not pending.done:
            self.tick(0)
        return pending.response

    def metadata(self) -> TransactionMetadata:
        return self.node.transactions.shard("app").entries["app"].metadata


def restart(machine: Restarted, how: str) -> None:
    if how == "killed":
        machine.kill()
    else:
        machine.restart()
    machine.tick(100)
