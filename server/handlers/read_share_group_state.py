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

from ..requests.request import Request
from ..requests.waiting import Wait
from ..share.share_state_requests import StateRequest, TopicResults, all_failed, partition_results

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..share.persister import SharePartitionKey
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = ReadShareGroupStateRequest.PartitionData
PartitionResult = ReadShareGroupStateResponse.PartitionResult
StateBatch = ReadShareGroupStateResponse.StateBatch


def answer(node: HandlerContext, request: Request[ReadShareGroupStateRequest]) -> Wait[ReadShareGroupStateResponse]:
    body = request.body
    requested = StateRequest(body.group_id, body.topics, _read, _failed, "read share group state")
    return _response((yield from partition_results(node.share_coordinator, requested)))


def _read(shard: ShareCoordinatorShard, key: SharePartitionKey, requested: PartitionData) -> PartitionResult:
    found = shard.read_state(key, requested.leader_epoch)
    return PartitionResult(
        partition=key.partition,
        state_epoch=found.state_epoch,
        start_offset=found.start_offset,
        state_batches=[
            StateBatch(first_offset=first, last_offset=last, delivery_state=state, delivery_count=count)
            for first, last, state, count in found.state_batches
        ],
    )


def _failed(partition: int, code: int, message: str | None) -> PartitionResult:
    return PartitionResult(partition=partition, error_code=code, error_message=message)


def _response(results: TopicResults[PartitionResult]) -> ReadShareGroupStateResponse:
    of_topic = ReadShareGroupStateResponse.ReadStateResult
    return ReadShareGroupStateResponse(
        results=[of_topic(topic_id=id, partitions=found) for id, found in results.items()]
    )


def refuse(request: Request[ReadShareGroupStateRequest], code: int, message: str | None) -> ReadShareGroupStateResponse:
    return _response(all_failed(request.body.topics, _failed, code, message))
