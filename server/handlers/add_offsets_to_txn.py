"""AddOffsetsToTxn: adds the partition that holds a group's offsets to a transaction (KIP-98).

With transactions version 2 clients leave it out: TxnOffsetCommit adds the partition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse

from ..coordinator.response_future import ResponseFuture
from ..metadata.internal_topics import CONSUMER_OFFSETS
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

PRODUCER_FENCED_FROM = 2
"""The first version whose clients know PRODUCER_FENCED."""


def answer(node: HandlerContext, request: Request[AddOffsetsToTxnRequest]) -> Wait[AddOffsetsToTxnResponse]:
    from ..transactions.init_producer_id import ProducerIdAndEpoch

    body = request.body
    shard = node.transactions.shard(body.transactional_id)
    partition = CONSUMER_OFFSETS, node.groups.runtime.partition_of(body.group_id)
    written = ResponseFuture[int]()
    producer = ProducerIdAndEpoch(body.producer_id, body.producer_epoch)
    shard.add_partitions(body.transactional_id, producer, [partition], 0, written.complete)
    if code := (yield from written.wait()):
        raise Refusal(code)
    return AddOffsetsToTxnResponse()


def refuse(request: Request[AddOffsetsToTxnRequest], code: int, message: str | None) -> AddOffsetsToTxnResponse:
    if code == error_codes.PRODUCER_FENCED and request.version < PRODUCER_FENCED_FROM:
        code = error_codes.INVALID_PRODUCER_EPOCH
    return AddOffsetsToTxnResponse(error_code=code)
