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
from ..share.share_state_requests import ShareStateApi

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..share.persister import SharePartitionKey
    from ..share.share_coordinator_shard import ShareCoordinatorShard

PartitionData = InitializeShareGroupStateRequest.PartitionData
PartitionResult = InitializeShareGroupStateResponse.PartitionResult


def _initialize(shard: ShareCoordinatorShard, key: SharePartitionKey, requested: PartitionData) -> PartitionResult:
    shard.initialize_state(key, requested.state_epoch, requested.start_offset)
    return PartitionResult(partition=key.partition)


_API = ShareStateApi(
    _initialize,
    "initialize share group state",
    InitializeShareGroupStateResponse,
    InitializeShareGroupStateResponse.InitializeStateResult,
    PartitionResult,
)
refuse = _API.refuse


def answer(
    node: HandlerContext, request: Request[InitializeShareGroupStateRequest]
) -> Wait[InitializeShareGroupStateResponse]:
    # As in Kafka, a topic without partitions does not stop the others.
    topics = [topic for topic in request.body.topics if topic.partitions]
    return _API.answer_for(node, request.body.group_id, topics)
