"""ElectLeaders: elect preferred leaders, or from version 1 on any live replica (KIP-183, KIP-460).

Version 0 returns an error of the whole request only per partition. A timeout of 0 or less expires
before anything changes. `controller.elections` says which partition fails and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from kafkadouble.messages.message import Message

from ..controller.controller_result import check_time_left
from ..controller.decision import decided
from ..controller.elections import PartitionResult, Result, elect_leaders
from ..metadata.image import Image
from ..requests.request import Request
from ..requests.waiting import Wait, begun

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = ElectLeadersResponse


@begun
def answer(node: HandlerContext, request: Request[ElectLeadersRequest]) -> Wait[Response]:
    requested = request.body.topic_partitions
    if requested is not None and not requested:
        return Response()
    check_time_left(request.body.timeout_ms)

    def decide(image: Image) -> Wait[tuple[Sequence[Message], Response]]:
        decision = yield from elect_leaders(image, node.settings, request.body)
        return decision.records, Response(replica_election_results=decision.results)

    return (yield from decided(node.controller, decide))


def refuse(request: Request[ElectLeadersRequest], code: int, message: str | None) -> Response:
    results = [
        Result(
            topic=topic.topic,
            partition_result=[
                PartitionResult(partition_id=index, error_code=code, error_message=message)
                for index in topic.partitions
            ],
        )
        for topic in request.body.topic_partitions or ()
    ]
    return Response(error_code=code if request.version > 0 else 0, replica_election_results=results)
