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
    LABELS,
    ONGOING,
    PREPARE_COMMIT,
    PREPARE_EPOCH_FENCE,
)
from tests.server.harness import NOW, Harness
from tests.server.transactions.coordinated import Coordinated

ALL = {"empty", "orders-1", "orders-2", "payments", "fenced"}


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


def listed(node: Coordinated, version: int = 2, **filters: Any) -> set[str]:
    response = node.submit(ListTransactionsRequest(**filters), version)
    assert response.error_code == 0
    return {transaction.transactional_id for transaction in response.transaction_states}


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


@pytest.mark.parametrize("label", LABELS.values())
def test_states_select_by_kafkas_name(node: Coordinated, label: str) -> None:
    expected = {"Empty": "empty", "Ongoing": "orders-1", "PrepareCommit": "orders-2", "CompleteAbort": "payments"}
    expected["PrepareEpochFence"] = "fenced"
    assert listed(node, state_filters=[label]) == ({expected[label]} if label in expected else set())


def test_unknown_states_are_named_once_and_match_nothing(node: Coordinated) -> None:
    names = ["ongoing", "Nope", "ongoing"]
    response = node.submit(ListTransactionsRequest(state_filters=names), 0)
    assert (response.error_code, list(response.transaction_states)) == (0, [])
    assert list(response.unknown_state_filters) == ["ongoing", "Nope"]
    response = node.submit(ListTransactionsRequest(state_filters=["Nope", "Ongoing"]), 0)
    assert [each.transactional_id for each in response.transaction_states] == ["orders-1"]
    assert list(response.unknown_state_filters) == ["Nope"]


def test_producer_ids_select(node: Coordinated) -> None:
    assert listed(node, 0, producer_id_filters=[4, 1, 6, 99]) == {"payments", "empty"}


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        (-1, ALL),
        (-(2**63), ALL),
        (0, ALL - {"fenced"}),
        (1000, {"empty", "orders-2", "payments"}),
        (1001, {"empty", "payments"}),
        (NOW, {"empty"}),
        (NOW + 1, set()),
        (2**63 - 1, set()),
    ],
)
def test_a_duration_selects_what_began_longer_ago(node: Coordinated, duration: int, expected: set[str]) -> None:
    """An id without a transaction has the start -1, and passes as in Kafka."""
    assert listed(node, 1, duration_filter=duration) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (None, ALL),
        ("", ALL),
        ("orders-.", {"orders-1", "orders-2"}),
        ("orders", set()),
        ("(?i)PAY.*|empty", {"payments", "empty"}),
        ("expired", set()),
    ],
)
def test_a_pattern_selects_by_the_whole_id(node: Coordinated, pattern: str | None, expected: set[str]) -> None:
    assert listed(node, transactional_id_pattern=pattern) == expected


def test_every_filter_must_pass(node: Coordinated) -> None:
    filters: dict[str, Any] = {"state_filters": ["Ongoing", "PrepareCommit"], "producer_id_filters": [2, 3, 4]}
    assert listed(node, **filters, duration_filter=1000, transactional_id_pattern=".*") == {"orders-2"}
    assert listed(node, **filters, duration_filter=1000, transactional_id_pattern=".*1") == set()


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
    assert {each.transactional_id for each in pending.response.transaction_states} == many


def test_a_broker_without_the_topic_lists_nothing() -> None:
    response = Harness().submit(ListTransactionsRequest(), 2)
    assert (response.error_code, list(response.transaction_states)) == (0, [])
