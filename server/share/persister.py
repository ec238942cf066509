"""The client of the share coordinator: reads and writes the state of share partitions (KIP-932).

Its users do not know how it sends. Every call takes `then`, which is called exactly once, perhaps
before the call returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from kafkadouble.messages.uuid import Uuid

UNINITIALIZED_START_OFFSET = -1
"""The share partition has no start offset yet: `share.auto.offset.reset` decides."""


class SharePartitionKey(NamedTuple):
    """A partition as one share group sees it."""

    group_id: str
    topic_id: Uuid
    partition: int


class PersisterStateBatch(NamedTuple):
    """The state of the records from `first_offset` to `last_offset`."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


class ReadStateResult(NamedTuple):
    """What the share coordinator has of a share partition, or its error."""

    error_code: int
    error_message: str | None
    state_epoch: int
    start_offset: int
    batches: Sequence[PersisterStateBatch]


Written = Callable[[int, str | None], None]
"""What is called when a write is over: with its error code and error message."""


class Persister(Protocol):
    """Reads and writes the state of share partitions."""

    def read_state(
        self, key: SharePartitionKey, leader_epoch: int, then: Callable[[ReadStateResult], None]
    ) -> None: ...

    def write_state(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[PersisterStateBatch],
        then: Written,
    ) -> None: ...
