"""DeleteShareGroupState: deletes the state of share partitions (KIP-932).

The group coordinator sends it. A share partition without a state is no error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
)

from ..requests.request import Request
from ..requests.waiting import Wait
from ..share.share_state_requests import StateRequest, TopicResults, all_failed, partition_results

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..share.persister import SharePartitionKey
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = DeleteShareGroupStateRequest.PartitionData
PartitionResult = DeleteShareGroupStateResponse.PartitionResult


def answer(node: HandlerContext, request: Request[DeleteShareGroupStateRequest]) -> Wait[DeleteShareGroupStateResponse]:
    body = request.body
    requested = StateRequest(body.group_id, body.topics, _delete, _failed, "delete share group state")
    return _response((yield from partition_results(node.share_coordinator, requested)))


def _delete(shard: ShareCoordinatorShard, key: SharePartitionKey, requested: PartitionData) -> PartitionResult:
    shard.delete_state(key)
    return PartitionResult(partition=key.partition)


def _failed(partition: int, code: int, message: str | None) -> PartitionResult:
    return PartitionResult(partition=partition, error_code=code, error_message=message)


def _response(results: TopicResults[PartitionResult]) -> DeleteShareGroupStateResponse:
    of_topic = DeleteShareGroupStateResponse.DeleteStateResult
    return DeleteShareGroupStateResponse(
        results=[of_topic(topic_id=id, partitions=found) for id, found in results.items()]
    )


def refuse(
    request: Request[DeleteShareGroupStateRequest], code: int, message: str | None
) -> DeleteShareGroupStateResponse:
    return _response(all_failed(request.body.topics, _failed, code, message))
