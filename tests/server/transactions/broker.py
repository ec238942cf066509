"""A broker that coordinates every transactional id, and that leads the topic "t"."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkadouble.server.transactions.transaction_metadata import TransactionMetadata
from kafkadouble.server.transactions.transaction_state import TransactionState
from tests.server.harness import Harness
from tests.support.transactional_producer import TransactionalProducer

SETTINGS = {"transaction.state.log.num.partitions": 3, "offsets.topic.num.partitions": 2}

ABORT_MS, EXPIRE_MS = 10_000, 3_600_000
"""Kafka's intervals of the search for timed-out transactions, and for expired ids."""


class Broker(Harness):
    """A broker with the topic "t", of two partitions, and the coordinators' topics."""

    def __init__(self, settings: dict[str, object] | None = None) -> None:
        super().__init__({**SETTINGS, **(settings or {})})
        self.node.controller.create_internal_topic(TRANSACTION_STATE)
        self.node.controller.create_internal_topic(CONSUMER_OFFSETS)
        self.create("t", partitions=2)

    def ask(self, body: Message, version: int) -> Any:
        return self.submit(body, version)

    def producer(self, transactional_id: str = "app", **how: Any) -> TransactionalProducer:
        made = TransactionalProducer(self.ask, transactional_id, **how)
        assert made.init() == 0
        return made

    def metadata(self, transactional_id: str = "app") -> TransactionMetadata:
        return self.node.transactions.shard(transactional_id).entries[transactional_id].metadata

    def state(self, transactional_id: str = "app") -> TransactionState:
        return self.metadata(transactional_id).state
