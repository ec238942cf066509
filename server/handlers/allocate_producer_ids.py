"""AllocateProducerIds: a broker gets a block of producer ids (KIP-730)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

from ..controller.producer_id_blocks import allocate_producer_ids
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = AllocateProducerIdsResponse


def answer(node: HandlerContext, request: Request[AllocateProducerIdsRequest]) -> Response | Wait[Response]:
    block = allocate_producer_ids(node.controller.draft, request.body.broker_id, request.body.broker_epoch)
    response = Response(producer_id_start=block.ids.start, producer_id_len=len(block.ids))
    return node.controller.write(block.records, response)
