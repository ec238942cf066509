"""AlterPartition: a leader tells the controller which replicas are in sync with it (KIP-497; version 3 with the epochs of brokers, KIP-903).

Only brokers ask. Which partition fails why stands in `metadata/isr.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest, AlterPartitionResponse

from ..controller.alter_partition import alter_partition
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

Response = AlterPartitionResponse


def answer(node: Node, request: Request[AlterPartitionRequest]) -> Response | Wait[Response]:
    if not request.body.topics:
        return Response()
    decision = alter_partition(node.controller.draft, node.settings, request.body, request.version)
    return node.controller.write(decision.records, Response(topics=decision.results))


def refuse(request: Request[AlterPartitionRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code)
