"""AlterPartitionReassignments: start or cancel the reassignment of replicas (KIP-455).

From version 1 on the request may forbid a change of the replication factor (KIP-860). A timeout of
0 or less expires before anything changes. `controller.partition_reassignments` says which partition
fails and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from kafkadouble.messages.message import Message

from ..controller.controller_result import check_time_left
from ..controller.decision import decided
from ..controller.partition_reassignments import PartitionResult, Result, alter_partition_reassignments
from ..metadata.image import Image
from ..requests.request import Request
from ..requests.waiting import Wait, begun

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = AlterPartitionReassignmentsResponse


@begun
def answer(node: HandlerContext, request: Request[AlterPartitionReassignmentsRequest]) -> Wait[Response]:
    body = request.body
    if not body.topics:
        return Response()
    check_time_left(body.timeout_ms)

    def decide(image: Image) -> Wait[tuple[Sequence[Message], Response]]:
        decision = yield from alter_partition_reassignments(image, node.settings, body)
        return decision.records, Response(
            allow_replication_factor_change=body.allow_replication_factor_change,
            error_message=None,
            responses=decision.results,
        )

    return (yield from decided(node.controller, decide))


def refuse(request: Request[AlterPartitionReassignmentsRequest], code: int, message: str | None) -> Response:
    results = [
        Result(
            name=topic.name,
            partitions=[
                PartitionResult(partition_index=requested.partition_index, error_code=code, error_message=message)
                for requested in topic.partitions
            ],
        )
        for topic in request.body.topics
    ]
    return Response(error_code=code, error_message=message, responses=results)
