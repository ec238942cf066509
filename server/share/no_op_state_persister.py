"""A persister that keeps nothing: share partitions begin where `share.auto.offset.reset` says, again
after each change of the leader (Kafka's class of the same name)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafkadouble.messages import error_codes

from .persister import (
    UNINITIALIZED_START_OFFSET,
    PersisterStateBatch,
    ReadStateResult,
    SharePartitionKey,
    Written,
)


class NoOpStatePersister:
    """Answers every read with an empty state, and every write with success."""

    def read_state(self, key: SharePartitionKey, leader_epoch: int, then: Callable[[ReadStateResult], None]) -> None:
        then(ReadStateResult(error_codes.NONE, None, 0, UNINITIALIZED_START_OFFSET, ()))

    def write_state(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[PersisterStateBatch],
        then: Written,
    ) -> None:
        then(error_codes.NONE, None)
