"""The store of the state of share partitions: what can be read and written (KIP-932, "Persister").

A share partition is one partition of a topic as one share group reads it. Each call is for one
share partition, and takes a function `then`, which is called exactly once with the result. It may
be called before the call returns. Results are Kafka's error codes, with 0 for success; messages
are as in the responses of the share coordinator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from kafkadouble.messages.uuid import Uuid

T = TypeVar("T")

UNINITIALIZED_START_OFFSET = -1
"""The start offset of a share partition whose first fetch has not chosen one yet."""

UNINITIALIZED_DELIVERY_COMPLETE_COUNT = -1
"""No count is known."""


class SharePartitionKey(NamedTuple):
    """A share partition."""

    group_id: str
    topic_id: Uuid
    partition: int

    @property
    def as_coordinator_key(self) -> str:
        """The key of FindCoordinator, whose hash selects the coordinator."""
        return f"{self.group_id}:{self.topic_id}:{self.partition}"


class PersisterStateBatch(NamedTuple):
    """The delivery state of the records from one offset to another, both included."""

    first_offset: int
    last_offset: int
    delivery_state: int
    """0 available, 2 acknowledged, 3 archiving, 4 archived (KIP-932, KIP-1191)."""
    delivery_count: int


def batches_of(batches: Iterable[Any]) -> tuple[PersisterStateBatch, ...]:
    """The state batches of a message."""
    return tuple(
        PersisterStateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
        for batch in batches
    )


def state_batches(of: Callable[..., T], batches: Iterable[PersisterStateBatch]) -> list[T]:
    """The state batches as those of a message, of which `of` is the class."""
    return [
        of(first_offset=first, last_offset=last, delivery_state=state, delivery_count=count)
        for first, last, state, count in batches
    ]


class ReadStateResult(NamedTuple):
    """The state of a share partition, or an error code."""

    error_code: int
    error_message: str | None
    state_epoch: int = 0
    start_offset: int = 0
    batches: Sequence[PersisterStateBatch] = ()


class ReadStateSummaryResult(NamedTuple):
    """The state of a share partition without its batches, or an error code."""

    error_code: int
    error_message: str | None
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = UNINITIALIZED_DELIVERY_COMPLETE_COUNT


Done = Callable[[int, str | None], None]
"""Called with an error code, and a message or None."""


class Persister(Protocol):
    """The state of share partitions. `leader_epoch` is that of the topic's partition."""

    def initialize_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int, then: Done) -> None:
        """Begins a state; -1 as `start_offset` leaves it open until the first fetch."""
        ...

    def read_state(self, key: SharePartitionKey, leader_epoch: int, then: Callable[[ReadStateResult], None]) -> None:
        """Reads the whole state, and fences the leaders of earlier epochs."""
        ...

    def write_state(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[PersisterStateBatch],
        then: Done,
    ) -> None:
        """Writes what changed. `delivery_complete_count` is the number of records from the start
        offset on that need no more delivery; -1 if it is unknown."""
        ...

    def delete_state(self, key: SharePartitionKey, then: Done) -> None:
        """Deletes the state; it is no error if there is none."""
        ...

    def read_summary(
        self, key: SharePartitionKey, leader_epoch: int, then: Callable[[ReadStateSummaryResult], None]
    ) -> None:
        """Reads the state without its batches. It fences no leader."""
        ...
