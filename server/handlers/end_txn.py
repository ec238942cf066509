"""EndTxn: commits or aborts the open transaction of a producer (KIP-98, KIP-890).

The answer is sent when the outcome is written; the markers follow. Version 5 raises the producer's
epoch at each end of a transaction, and returns the producer id and epoch to go on with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.end_txn import EndTxnRequest, EndTxnResponse

from ..coordinator.response_future import ResponseFuture
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

PRODUCER_FENCED_FROM = 2
"""The first version whose clients know PRODUCER_FENCED."""

TRANSACTIONS_V2_FROM = 5
"""The first version of clients with transactions version 2."""


def answer(node: HandlerContext, request: Request[EndTxnRequest]) -> Wait[EndTxnResponse]:
    from ..transactions.end_transaction import EndOfTransaction

    body, bumps = request.body, request.version >= TRANSACTIONS_V2_FROM
    shard = node.transactions.shard(body.transactional_id)
    decided = ResponseFuture[int]()
    end = EndOfTransaction(body.producer_id, body.producer_epoch, body.committed, 2 if bumps else 0)
    following = shard.end(body.transactional_id, end, decided.complete)
    if code := (yield from decided.wait()):
        raise Refusal(code)
    if not bumps:
        return EndTxnResponse()
    return EndTxnResponse(producer_id=following.producer_id, producer_epoch=following.producer_epoch)


def refuse(request: Request[EndTxnRequest], code: int, message: str | None) -> EndTxnResponse:
    if code == error_codes.PRODUCER_FENCED and request.version < PRODUCER_FENCED_FROM:
        code = error_codes.INVALID_PRODUCER_EPOCH
    return EndTxnResponse(error_code=code)
