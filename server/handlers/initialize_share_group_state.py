"""InitializeShareGroupState: begins the state of share partitions, or begins it again with a higher
state epoch (KIP-932).

The group coordinator sends it. A state epoch below the known one is FENCED_STATE_EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
)

from ..requests.request import Request
from ..requests.waiting import Wait
from ..share.share_state_requests import StateRequest, TopicResults, all_failed, partition_results

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..share.persister import SharePartitionKey
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = InitializeShareGroupStateRequest.PartitionData
PartitionResult = InitializeShareGroupStateResponse.PartitionResult


def answer(
    node: HandlerContext, request: Request[InitializeShareGroupStateRequest]
) -> Wait[InitializeShareGroupStateResponse]:
    body = request.body
    # As in Kafka, a topic without partitions does not stop the others.
    topics = [topic for topic in body.topics if topic.partitions]
    requested = StateRequest(body.group_id, topics, _initialize, _failed, "initialize share group state")
    return _response((yield from partition_results(node.share_coordinator, requested)))


def _initialize(shard: ShareCoordinatorShard, key: SharePartitionKey, requested: PartitionData) -> PartitionResult:
    shard.initialize_state(key, requested.state_epoch, requested.start_offset)
    return PartitionResult(partition=key.partition)


def _failed(partition: int, code: int, message: str | None) -> PartitionResult:
    return PartitionResult(partition=partition, error_code=code, error_message=message)


def _response(results: TopicResults[PartitionResult]) -> InitializeShareGroupStateResponse:
    of_topic = InitializeShareGroupStateResponse.InitializeStateResult
    return InitializeShareGroupStateResponse(
        results=[of_topic(topic_id=id, partitions=found) for id, found in results.items()]
    )


def refuse(
    request: Request[InitializeShareGroupStateRequest], code: int, message: str | None
) -> InitializeShareGroupStateResponse:
    return _response(all_failed(request.body.topics, _failed, code, message))
