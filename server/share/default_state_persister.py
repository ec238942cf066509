"""The persister that keeps the state of share partitions in the share coordinators (KIP-932; Kafka:
`DefaultStatePersister`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_share_group_state import DeleteShareGroupStateRequest
from kafkadouble.messages.generated.initialize_share_group_state import InitializeShareGroupStateRequest
from kafkadouble.messages.generated.read_share_group_state import (
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
)
from kafkadouble.messages.generated.read_share_group_state_summary import (
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
)
from kafkadouble.messages.generated.write_share_group_state import WriteShareGroupStateRequest

from .persister import (
    Done,
    PersisterStateBatch,
    ReadStateResult,
    ReadStateSummaryResult,
    SharePartitionKey,
    batches_of,
    state_batches,
)
from .persister_rpcs import DELETE, INITIALIZE, READ, RPCS, SUMMARY, WRITE, PersisterRpc
from .persister_state_manager import PendingState, PersisterStateManager

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost


class DefaultStatePersister:
    """A `Persister`. `managers` are its channels to the share coordinators."""

    def __init__(self, node: CoordinatorHost) -> None:
        self._by_rpc = {rpc: PersisterStateManager(node, rpc) for rpc in RPCS}
        self.managers = tuple(self._by_rpc.values())

    def initialize_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int, then: Done) -> None:
        data = InitializeShareGroupStateRequest.PartitionData(
            partition=key.partition, state_epoch=state_epoch, start_offset=start_offset
        )
        self._send(INITIALIZE, key, data, then)

    def read_state(self, key: SharePartitionKey, leader_epoch: int, then: Callable[[ReadStateResult], None]) -> None:
        def done(result: ReadShareGroupStateResponse.PartitionResult) -> None:
            batches = list(batches_of(result.state_batches))
            then(ReadStateResult(error_codes.NONE, None, result.state_epoch, result.start_offset, batches))

        data = ReadShareGroupStateRequest.PartitionData(partition=key.partition, leader_epoch=leader_epoch)
        self._by_rpc[READ].enqueue(PendingState(key, data, done, lambda code, text: then(ReadStateResult(code, text))))

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
        of = WriteShareGroupStateRequest
        data = of.PartitionData(
            partition=key.partition,
            state_epoch=state_epoch,
            leader_epoch=leader_epoch,
            start_offset=start_offset,
            delivery_complete_count=delivery_complete_count,
            state_batches=state_batches(of.StateBatch, batches),
        )
        self._send(WRITE, key, data, then)

    def delete_state(self, key: SharePartitionKey, then: Done) -> None:
        self._send(DELETE, key, DeleteShareGroupStateRequest.PartitionData(partition=key.partition), then)

    def read_summary(
        self, key: SharePartitionKey, leader_epoch: int, then: Callable[[ReadStateSummaryResult], None]
    ) -> None:
        def done(result: ReadShareGroupStateSummaryResponse.PartitionResult) -> None:
            then(
                ReadStateSummaryResult(
                    error_codes.NONE,
                    None,
                    result.state_epoch,
                    result.leader_epoch,
                    result.start_offset,
                    result.delivery_complete_count,
                )
            )

        data = ReadShareGroupStateSummaryRequest.PartitionData(partition=key.partition, leader_epoch=leader_epoch)
        self._by_rpc[SUMMARY].enqueue(
            PendingState(key, data, done, lambda code, text: then(ReadStateSummaryResult(code, text)))
        )

    def _send(self, rpc: PersisterRpc, key: SharePartitionKey, data: Any, then: Done) -> None:
        """Sends a request whose response has no more than an error."""
        self._by_rpc[rpc].enqueue(PendingState(key, data, lambda result: then(error_codes.NONE, None), then))

    def __repr__(self) -> str:
        return f"persister of share partitions: {list(self.managers)}"
