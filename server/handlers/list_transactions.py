"""ListTransactions: the transactional ids that this broker coordinates (KIP-664).

A request may filter by states and producer ids, from version 1 on by the duration of the
transaction (KIP-994), from 2 on by a regular expression (KIP-1152). The response names the states
that Kafka does not have.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.list_transactions import ListTransactionsRequest, ListTransactionsResponse

from ..requests.aside_codec import aside
from ..requests.request import Request
from ..requests.slices import divided
from ..requests.waiting import OTHERS_FIRST, SLICE, Slices, Wait
from ..security.acls import TRANSACTIONAL_ID
from ..security.authorizer import DESCRIBE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..requests.regular_expression import Pattern
    from ..transactions.list_transactions import ListedTransaction, TransactionFilters


def answer(node: HandlerContext, request: Request[ListTransactionsRequest]) -> Wait[ListTransactionsResponse]:
    from ..transactions.list_transactions import TransactionFilters, transactional_id_pattern

    filters = TransactionFilters(request.body, node.now)
    pattern = None
    # Aside: a hostile pattern takes 0.1 s to compile, and as long for each id of thousands of
    # characters.
    if text := request.body.transactional_id_pattern:
        pattern = yield from aside(partial(transactional_id_pattern, text))
    found = yield from _filtered(node, filters)
    if pattern is not None:
        found = yield from _matching(pattern, found)
    if (rights := client_rights(node, request)) is not None:
        may = partial(rights.may, DESCRIBE, TRANSACTIONAL_ID)
        found, _ = yield from divided(lambda each: may(each.transactional_id), found)
    return ListTransactionsResponse(unknown_state_filters=filters.unknown_states, transaction_states=found)


def _filtered(node: HandlerContext, filters: TransactionFilters) -> Wait[list[ListedTransaction]]:
    from ..transactions.list_transactions import entries_of, listed_transaction

    found, slices = [], Slices()
    for entry in entries_of(node.transactions):
        if filters.include(entry):
            found.append(listed_transaction(entry))
        if slices.end():
            yield OTHERS_FIRST
    return found


def _matching(pattern: Pattern, listed: list[ListedTransaction]) -> Wait[list[ListedTransaction]]:
    from ..transactions.list_transactions import matching

    found: list[ListedTransaction] = []
    for start in range(0, len(listed), SLICE):
        found += yield from aside(partial(matching, pattern, listed[start : start + SLICE]))
    return found
