"""AlterPartition: a leader asks the controller to change the ISR of its partitions (KIP-497).

From version 3 on the request has the epochs of the brokers (KIP-903). Only brokers send it.
`controller.alter_partition` says which partition fails and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest, AlterPartitionResponse

from ..controller.alter_partition import alter_partition
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = AlterPartitionResponse


def answer(node: HandlerContext, request: Request[AlterPartitionRequest]) -> Response | Wait[Response]:
    if not request.body.topics:
        return Response()
    decision = alter_partition(node.controller.draft, node.settings, request.body, request.version)
    return node.controller.write(decision.records, Response(topics=decision.results))
