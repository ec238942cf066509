"""ReadShareGroupStateSummary: reads the state of share partitions without their batches (KIP-932).

The group coordinator sends it for DescribeShareGroupOffsets. It fences no leader, and a share
partition without a state has the start offset -1. Version 1 has the number of records from the
start offset on that need no more delivery (KIP-1226).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.read_share_group_state_summary import (
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
)

from ..share.persister import UNINITIALIZED_START_OFFSET, SharePartitionKey
from ..share.share_state_requests import ShareStateApi

if TYPE_CHECKING:
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = ReadShareGroupStateSummaryRequest.PartitionData
PartitionResult = ReadShareGroupStateSummaryResponse.PartitionResult


def _read(shard: ShareCoordinatorShard, key: SharePartitionKey, requested: PartitionData) -> PartitionResult:
    found = shard.read_state_summary(key)
    if found is None:
        return PartitionResult(partition=key.partition, start_offset=UNINITIALIZED_START_OFFSET)
    return PartitionResult(
        partition=key.partition,
        state_epoch=found.state_epoch,
        leader_epoch=found.leader_epoch,
        start_offset=found.start_offset,
        delivery_complete_count=found.delivery_complete_count,
    )


_API = ShareStateApi(
    _read,
    "read share group state summary",
    ReadShareGroupStateSummaryResponse,
    ReadShareGroupStateSummaryResponse.ReadStateSummaryResult,
    PartitionResult,
)
answer, refuse = _API.answer, _API.refuse
