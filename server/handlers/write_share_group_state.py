"""WriteShareGroupState: writes what changed in the state of share partitions (KIP-932).

The leader of a partition sends it. A leader epoch or a state epoch below the known one is
FENCED_LEADER_EPOCH or FENCED_STATE_EPOCH; a state that was never initialized is INVALID_REQUEST.
Version 1 has the number of records from the start offset on that need no more delivery (KIP-1226).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.write_share_group_state import (
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
)

from ..share.persister import SharePartitionKey, batches_of
from ..share.share_state_requests import ShareStateApi

if TYPE_CHECKING:
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = WriteShareGroupStateRequest.PartitionData
PartitionResult = WriteShareGroupStateResponse.PartitionResult


def _write(shard: ShareCoordinatorShard, key: SharePartitionKey, requested: PartitionData) -> PartitionResult:
    shard.write_state(
        key,
        requested.state_epoch,
        requested.leader_epoch,
        requested.start_offset,
        requested.delivery_complete_count,
        batches_of(requested.state_batches),
    )
    return PartitionResult(partition=key.partition)


_API = ShareStateApi(
    _write,
    "write share group state",
    WriteShareGroupStateResponse,
    WriteShareGroupStateResponse.WriteStateResult,
    PartitionResult,
)
answer, refuse = _API.answer, _API.refuse
