"""ReadShareGroupState: reads the state of share partitions, and fences the leaders of earlier
epochs (KIP-932).

The leader of a partition sends it when it begins to serve a share group. A leader epoch that is new
is written; one below the known epoch is FENCED_LEADER_EPOCH. A state that was never initialized is
INVALID_REQUEST.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.read_share_group_state import (
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
)

from ..share.persister import state_batches
from ..share.share_state_requests import ShareStateApi

if TYPE_CHECKING:
    from ..share.persister import SharePartitionKey
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = ReadShareGroupStateRequest.PartitionData
PartitionResult = ReadShareGroupStateResponse.PartitionResult


def _read(shard: ShareCoordinatorShard, key: SharePartitionKey, requested: PartitionData) -> PartitionResult:
    found = shard.read_state(key, requested.leader_epoch)
    return PartitionResult(
        partition=key.partition,
        state_epoch=found.state_epoch,
        start_offset=found.start_offset,
        state_batches=state_batches(ReadShareGroupStateResponse.StateBatch, found.state_batches),
    )


_API = ShareStateApi(
    _read,
    "read share group state",
    ReadShareGroupStateResponse,
    ReadShareGroupStateResponse.ReadStateResult,
    PartitionResult,
)
answer, refuse = _API.answer, _API.refuse
