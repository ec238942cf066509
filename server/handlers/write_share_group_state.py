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

from ..requests.request import Request
from ..requests.waiting import Wait
from ..share.persister import PersisterStateBatch, SharePartitionKey
from ..share.share_state_requests import StateRequest, TopicResults, all_failed, partition_results

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = WriteShareGroupStateRequest.PartitionData
PartitionResult = WriteShareGroupStateResponse.PartitionResult


def answer(node: HandlerContext, request: Request[WriteShareGroupStateRequest]) -> Wait[WriteShareGroupStateResponse]:
    body = request.body
    requested = StateRequest(body.group_id, body.topics, _write, _failed, "write share group state")
    return _response((yield from partition_results(node.share_coordinator, requested)))


def _write(shard: ShareCoordinatorShard, key: SharePartitionKey, requested: PartitionData) -> PartitionResult:
    batches = [
        PersisterStateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in requested.state_batches
    ]
    shard.write_state(
        key,
        requested.state_epoch,
        requested.leader_epoch,
        requested.start_offset,
        requested.delivery_complete_count,
        batches,
    )
    return PartitionResult(partition=key.partition)


def _failed(partition: int, code: int, message: str | None) -> PartitionResult:
    return PartitionResult(partition=partition, error_code=code, error_message=message)


def _response(results: TopicResults[PartitionResult]) -> WriteShareGroupStateResponse:
    of_topic = WriteShareGroupStateResponse.WriteStateResult
    return WriteShareGroupStateResponse(
        results=[of_topic(topic_id=id, partitions=found) for id, found in results.items()]
    )


def refuse(
    request: Request[WriteShareGroupStateRequest], code: int, message: str | None
) -> WriteShareGroupStateResponse:
    return _response(all_failed(request.body.topics, _failed, code, message))
