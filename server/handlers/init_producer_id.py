"""InitProducerId: a producer id in epoch 0 for an idempotent producer (KIP-98, KIP-360).

A producer without a transactional id always gets a new id, even if it sends its id and epoch; an id
without an epoch, or the reverse, is INVALID_REQUEST. Transactions are not served yet: a
transactional id gets TRANSACTIONAL_ID_AUTHORIZATION_FAILED, the one error that Java's client,
librdkafka, kafka-python and aiokafka all report at once. librdkafka retries other errors until
init_transactions times out, or reports a fenced producer; the server's log has the real reason.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

from ..requests.request import Refusal, Request

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

log = logging.getLogger("kafkadouble.server.handlers")

NONE = -1
"""No producer id or no epoch."""


def answer(node: HandlerContext, request: Request[InitProducerIdRequest]) -> InitProducerIdResponse:
    body = request.body
    if (body.producer_id == NONE) != (body.producer_epoch == NONE) or body.transactional_id == "":
        raise Refusal(error_codes.INVALID_REQUEST)
    if body.transactional_id is not None:
        log.warning("%r asks for transactions (%r), which are not served", request, body.transactional_id)
        raise Refusal(error_codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    return InitProducerIdResponse(producer_id=node.controller.producer_ids.next(), producer_epoch=0)


def refuse(request: Request[InitProducerIdRequest], code: int, message: str | None) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=NONE, producer_epoch=NONE)
