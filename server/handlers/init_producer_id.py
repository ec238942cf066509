"""InitProducerId: a producer id and epoch, for an idempotent or a transactional producer (KIP-98,
KIP-360).

A producer without a transactional id always gets a new id in epoch 0, even if it sends its id and
epoch; an id without an epoch, or the reverse, is INVALID_REQUEST. Version 6, with two-phase commit
(KIP-939), is not stable in Kafka 4.4.

- v3: the request may have the producer id and epoch of the producer (KIP-360).
- v4: clients know PRODUCER_FENCED; before, it is INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

from ..coordinator.response_future import ResponseFuture
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait
from ..security.acls import TOPIC, TRANSACTIONAL_ID
from ..security.authorizer import IDEMPOTENT_WRITE, WRITE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

NONE = -1
"""No producer id or no epoch."""

PRODUCER_FENCED_FROM = 4
"""The first version whose clients know PRODUCER_FENCED."""


def answer(
    node: HandlerContext, request: Request[InitProducerIdRequest]
) -> InitProducerIdResponse | Wait[InitProducerIdResponse]:
    body = request.body
    if (rights := client_rights(node, request)) is not None:
        # A client that may write to some topic may have a producer id (KIP-679).
        if body.transactional_id is not None:
            rights.require(WRITE, TRANSACTIONAL_ID, body.transactional_id)
        elif not rights.may_on_cluster(IDEMPOTENT_WRITE) and not rights.may_on_some(WRITE, TOPIC):
            raise Refusal(error_codes.CLUSTER_AUTHORIZATION_FAILED)
    if (body.producer_id == NONE) != (body.producer_epoch == NONE) or body.transactional_id == "":
        raise Refusal(error_codes.INVALID_REQUEST)
    if body.transactional_id is None:
        return InitProducerIdResponse(producer_id=node.controller.producer_ids.next(), producer_epoch=0)
    return _init_transactional(node, body)


def _init_transactional(node: HandlerContext, body: InitProducerIdRequest) -> Wait[InitProducerIdResponse]:
    from ..transactions.init_producer_id import ProducerIdAndEpoch

    if not 0 < body.transaction_timeout_ms <= node.settings.int("transaction.max.timeout.ms"):
        raise Refusal(error_codes.INVALID_TRANSACTION_TIMEOUT)
    expected = None if body.producer_id == NONE else ProducerIdAndEpoch(body.producer_id, body.producer_epoch)
    shard = node.transactions.shard(body.transactional_id)
    written = ResponseFuture[int]()
    assert body.transactional_id is not None
    begun = shard.init_producer_id(body.transactional_id, body.transaction_timeout_ms, expected, written.complete)
    if code := (yield from written.wait()):
        raise Refusal(code)
    if begun is None:
        raise Refusal(error_codes.CONCURRENT_TRANSACTIONS)
    return InitProducerIdResponse(producer_id=begun.producer_id, producer_epoch=begun.producer_epoch)


def refuse(request: Request[InitProducerIdRequest], code: int, message: str | None) -> InitProducerIdResponse:
    if code == error_codes.PRODUCER_FENCED and request.version < PRODUCER_FENCED_FROM:
        code = error_codes.INVALID_PRODUCER_EPOCH
    return InitProducerIdResponse(error_code=code, producer_id=NONE, producer_epoch=NONE)
