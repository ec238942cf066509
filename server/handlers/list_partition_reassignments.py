"""ListPartitionReassignments: the reassignments in progress, of some or of all topics (KIP-455)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)

from ..controller.partition_reassignments import (
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
    list_partition_reassignments,
)
from ..requests.request import Request
from ..requests.waiting import Wait, begun

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = ListPartitionReassignmentsResponse


@begun
def answer(node: HandlerContext, request: Request[ListPartitionReassignmentsRequest]) -> Wait[Response]:
    topics = yield from list_partition_reassignments(node.image, request.body.topics)
    return Response(error_message=None, topics=topics)


def refuse(request: Request[ListPartitionReassignmentsRequest], code: int, message: str | None) -> Response:
    topics = [
        OngoingTopicReassignment(
            name=topic.name,
            partitions=[OngoingPartitionReassignment(partition_index=index) for index in topic.partition_indexes],
        )
        for topic in request.body.topics or ()
    ]
    return Response(error_code=code, error_message=message, topics=topics)
