"""The dead-letter queue of share groups: takes records that are given up (KIP-1191).

A record is given up when a member rejects it, or when it was delivered as often as the group
allows. Until the queue has it, its state is ARCHIVING; then it is ARCHIVED, whether the queue
failed or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from kafkadouble.wire.client_log import ClientLog

from .persister import SharePartitionKey

log = ClientLog("kafkadouble.server.share")


class ShareGroupDLQRecordParameter(NamedTuple):
    """The records of a share partition that are given up, and why."""

    key: SharePartitionKey
    first_offset: int
    last_offset: int
    delivery_count: int
    cause: str


class ShareGroupDLQManager(Protocol):
    """Writes records to the dead-letter queues."""

    def enqueue(self, given_up: ShareGroupDLQRecordParameter, then: Callable[[], None]) -> None:
        """Writes the records; `then` is called once, when they are written or cannot be."""
        ...


class NoOpShareGroupDLQManager:
    """Only logs what is given up."""

    def enqueue(self, given_up: ShareGroupDLQRecordParameter, then: Callable[[], None]) -> None:
        log.warning("%s: no dead-letter queue takes them", given_up)
        then()
