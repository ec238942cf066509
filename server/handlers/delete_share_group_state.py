"""DeleteShareGroupState: deletes the state of share partitions (KIP-932).

The group coordinator sends it. A share partition without a state is no error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
)

from ..share.share_state_requests import ShareStateApi

if TYPE_CHECKING:
    from ..share.persister import SharePartitionKey
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = DeleteShareGroupStateRequest.PartitionData
PartitionResult = DeleteShareGroupStateResponse.PartitionResult


def _delete(shard: ShareCoordinatorShard, key: SharePartitionKey, requested: PartitionData) -> PartitionResult:
    shard.delete_state(key)
    return PartitionResult(partition=key.partition)


_API = ShareStateApi(
    _delete,
    "delete share group state",
    DeleteShareGroupStateResponse,
    DeleteShareGroupStateResponse.DeleteStateResult,
    PartitionResult,
)
answer, refuse = _API.answer, _API.refuse
