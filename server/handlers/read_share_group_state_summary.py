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

from ..requests.request import Request
from ..requests.waiting import Wait
from ..share.persister import UNINITIALIZED_START_OFFSET, SharePartitionKey
from ..share.share_state_requests import StateRequest, TopicResults, all_failed, partition_results

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = ReadShareGroupStateSummaryRequest.PartitionData
PartitionResult = ReadShareGroupStateSummaryResponse.PartitionResult


def answer(
    node: HandlerContext, request: Request[ReadShareGroupStateSummaryRequest]
) -> Wait[ReadShareGroupStateSummaryResponse]:
    body = request.body
    requested = StateRequest(body.group_id, body.topics, _read, _failed, "read share group state summary")
    return _response((yield from partition_results(node.share_coordinator, requested)))


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


def _failed(partition: int, code: int, message: str | None) -> PartitionResult:
    return PartitionResult(partition=partition, error_code=code, error_message=message)


def _response(results: TopicResults[PartitionResult]) -> ReadShareGroupStateSummaryResponse:
    of_topic = ReadShareGroupStateSummaryResponse.ReadStateSummaryResult
    return ReadShareGroupStateSummaryResponse(
        results=[of_topic(topic_id=id, partitions=found) for id, found in results.items()]
    )


def refuse(
    request: Request[ReadShareGroupStateSummaryRequest], code: int, message: str | None
) -> ReadShareGroupStateSummaryResponse:
    return _response(all_failed(request.body.topics, _failed, code, message))
