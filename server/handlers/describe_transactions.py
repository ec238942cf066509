"""DescribeTransactions: the state of transactional ids, and the partitions of their open
transactions, at their coordinator (KIP-664).

Difference from Apache Kafka: a transactional id that the request repeats is answered each time, as
in Kafka, until the response would become long; then it gets INVALID_REQUEST (`repeats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)

from ..requests.repeats import Repeats
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait, sliced
from ..security.acls import TOPIC
from ..security.authorizer import DESCRIBE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedTransaction = DescribeTransactionsResponse.TransactionState


def answer(node: HandlerContext, request: Request[DescribeTransactionsRequest]) -> Wait[DescribeTransactionsResponse]:
    repeats = Repeats[DescribedTransaction]()
    states = yield from sliced(
        lambda transactional_id: _answer(node, transactional_id, repeats), request.body.transactional_ids
    )
    if (rights := client_rights(node, request)) is not None:
        for state in states:
            state.topics = [topic for topic in state.topics if rights.may(DESCRIBE, TOPIC, topic.topic)]
    return DescribeTransactionsResponse(transaction_states=states)


def _answer(
    node: HandlerContext, transactional_id: str, repeats: Repeats[DescribedTransaction]
) -> DescribedTransaction:
    found = repeats.answer(transactional_id, lambda: _describe(node, transactional_id))
    return _failed(transactional_id, error_codes.INVALID_REQUEST) if found is None else found


def _describe(node: HandlerContext, transactional_id: str) -> DescribedTransaction:
    from ..transactions.describe_transactions import described_transaction, metadata_in

    try:
        metadata = metadata_in(node.transactions.shard(transactional_id), transactional_id)
    except Refusal as refusal:
        return _failed(transactional_id, refusal.code)
    return described_transaction(transactional_id, metadata)


def _failed(transactional_id: str, code: int) -> DescribedTransaction:
    return DescribedTransaction(transactional_id=transactional_id, error_code=code)


def refuse(
    request: Request[DescribeTransactionsRequest], code: int, message: str | None
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_failed(transactional_id, code) for transactional_id in request.body.transactional_ids]
    )
