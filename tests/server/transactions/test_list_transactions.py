"""ListTransactions: which transactional ids pass which filters."""

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.list_transactions import ListTransactionsRequest
from kafkadouble.server.requests.waiting import SLICE
from kafkadouble.server.transactions.transaction_state import (
    COMPLETE_ABORT,
    DEAD,
    EMPTY,
    ONGOING,
    PREPARE_COMMIT,
    PREPARE_EPOCH_FENCE,
)
from tests.server.harness import NOW, Harness
from tests.server.transactions.coordinated import Coordinated

ALL = {"empty", "orders-1", "orders-2", "payments", "fenced"}
SOME: dict[str, Any] = {"state_filters": ["Ongoing", "PrepareCommit"], "producer_id_filters": [2, 3, 4]}


@pytest.fixture
def node() -> Coordinated:
    node = Coordinated()
    node.put("empty", 1, state=EMPTY, txn_start_timestamp=-1)
    node.put("orders-1", 2, state=ONGOING, txn_start_timestamp=NOW - 1000)
    node.put("orders-2", 3, state=PREPARE_COMMIT, txn_start_timestamp=NOW - 1001)
    node.put("payments", 4, state=COMPLETE_ABORT, txn_start_timestamp=NOW - 2000)
    node.put("fenced", 5, state=PREPARE_EPOCH_FENCE)
    node.put("expired", 6, state=DEAD)
    return node


@pytest.mark.parametrize("version", range(3))
def test_without_filters_all_but_the_expired_are_listed(node: Coordinated, version: int) -> None:
    response = node.submit(ListTransactionsRequest(), version)
    assert (response.error_code, list(response.unknown_state_filters)) == (0, [])
    found = {(each.transactional_id, each.producer_id, each.transaction_state) for each in response.transaction_states}
    assert found == {
        ("empty", 1, "Empty"),
        ("orders-1", 2, "Ongoing"),
        ("orders-2", 3, "PrepareCommit"),
        ("payments", 4, "CompleteAbort"),
        ("fenced", 5, "PrepareEpochFence"),
    }


def test_unknown_states_are_named_once_and_match_nothing(node: Coordinated) -> None:
    names = ["ongoing", "Nope", "ongoing"]
    response = node.submit(ListTransactionsRequest(state_filters=names), 0)
    assert (response.error_code, list(response.transaction_states)) == (0, [])
    assert list(response.unknown_state_filters) == ["ongoing", "Nope"]
    response = node.submit(ListTransactionsRequest(state_filters=["Nope", "Ongoing"]), 0)
    assert [state.transactional_id for state in response.transaction_states] == ["orders-1"]
    assert list(response.unknown_state_filters) == ["Nope"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"state_filters": ["Empty"]}, {"empty"}),
        ({"state_filters": ["Ongoing"]}, {"orders-1"}),
        ({"state_filters": ["PrepareCommit"]}, {"orders-2"}),
        ({"state_filters": ["CompleteAbort"]}, {"payments"}),
        ({"state_filters": ["PrepareEpochFence"]}, {"fenced"}),
        ({"state_filters": ["PrepareAbort", "CompleteCommit", "Dead"]}, set()),
        ({"producer_id_filters": [4, 1, 6, 99]}, {"payments", "empty"}),
        ({"duration_filter": -1}, ALL),
        ({"duration_filter": -(2**63)}, ALL),
        ({"duration_filter": 0}, ALL - {"fenced"}),
        ({"duration_filter": 1000}, {"empty", "orders-2", "payments"}),
        ({"duration_filter": 1001}, {"empty", "payments"}),
        ({"duration_filter": NOW}, {"empty"}),
        ({"duration_filter": NOW + 1}, set()),
        ({"duration_filter": 2**63 - 1}, set()),
        ({"transactional_id_pattern": None}, ALL),
        ({"transactional_id_pattern": ""}, ALL),
        ({"transactional_id_pattern": "orders-."}, {"orders-1", "orders-2"}),
        ({"transactional_id_pattern": "orders"}, set()),
        ({"transactional_id_pattern": "(?i)PAY.*|empty"}, {"payments", "empty"}),
        ({"transactional_id_pattern": "expired"}, set()),
        ({**SOME, "duration_filter": 1000, "transactional_id_pattern": ".*"}, {"orders-2"}),
        ({**SOME, "duration_filter": 1000, "transactional_id_pattern": ".*1"}, set()),
    ],
)
def test_every_filter_must_pass(node: Coordinated, filters: dict[str, Any], expected: set[str]) -> None:
    """A pattern is of the whole id; ids without a transaction pass any duration, as in Kafka."""
    response = node.submit(ListTransactionsRequest(**filters), 2)
    assert response.error_code == 0
    assert {transaction.transactional_id for transaction in response.transaction_states} == expected


@pytest.mark.parametrize("pattern", ["(", "a**", "(?=a)", "((a{1000}){1000}){1000}"])
def test_an_invalid_pattern_fails_the_request(node: Coordinated, pattern: str) -> None:
    response = node.submit(ListTransactionsRequest(transactional_id_pattern=pattern, state_filters=["Nope"]), 2)
    assert response.error_code == error_codes.INVALID_REGULAR_EXPRESSION
    assert (list(response.transaction_states), list(response.unknown_state_filters)) == ([], [])


def test_many_ids_are_listed_in_slices(node: Coordinated) -> None:
    many = {f"id-{number}" for number in range(3 * SLICE)}
    for transactional_id in many:
        node.put(transactional_id)
    pending = node.begin(ListTransactionsRequest(transactional_id_pattern="id-.*"), 2)
    assert pending.task is not None, "answered in one step"
    while not pending.done:
        node.node.tick(node.now)
    assert {state.transactional_id for state in pending.response.transaction_states} == many


def test_a_broker_without_the_topic_lists_nothing() -> None:
    response = Harness().submit(ListTransactionsRequest(), 2)
    assert (response.error_code, list(response.transaction_states)) == (0, [])
