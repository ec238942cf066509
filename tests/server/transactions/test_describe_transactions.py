"""DescribeTransactions: what is shown of a transactional id."""

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_transactions import DescribeTransactionsRequest
from kafkadouble.server.requests import repeats
from kafkadouble.server.transactions.transaction_state import DEAD, EMPTY, LABELS, ONGOING, TransactionState
from tests.server.harness import NOW, Harness
from tests.server.transactions.coordinated import Coordinated


def described(node: Harness, *transactional_ids: str) -> list[Any]:
    response = node.submit(DescribeTransactionsRequest(transactional_ids=transactional_ids), 0)
    assert [state.transactional_id for state in response.transaction_states] == list(transactional_ids)
    return list(response.transaction_states)


def test_an_open_transaction_shows_everything() -> None:
    node = Coordinated()
    partitions = frozenset({("b", 0), ("a", 10), ("a", 2), ("b", 1)})
    fields = {"producer_epoch": 3, "txn_timeout_ms": 60_000, "txn_start_timestamp": NOW - 5}
    node.put("app", 7, state=ONGOING, topic_partitions=partitions, **fields)
    (shown,) = described(node, "app")
    assert (shown.error_code, shown.transaction_state, shown.transaction_timeout_ms) == (0, "Ongoing", 60_000)
    assert (shown.producer_id, shown.producer_epoch, shown.transaction_start_time_ms) == (7, 3, NOW - 5)
    assert [(topic.topic, list(topic.partitions)) for topic in shown.topics] == [("a", [2, 10]), ("b", [0, 1])]


@pytest.mark.parametrize("state", [state for state in TransactionState if state is not DEAD])
def test_every_state_has_kafkas_name(state: TransactionState) -> None:
    node = Coordinated()
    node.put("app", state=state)
    (shown,) = described(node, "app")
    assert (shown.error_code, shown.transaction_state, list(shown.topics)) == (0, LABELS[state], [])


def test_each_id_has_its_own_error() -> None:
    node = Coordinated()
    node.put("good", state=EMPTY)
    node.put("expired", state=DEAD)
    shown = described(node, "unknown", "good", "", "expired")
    not_found = error_codes.TRANSACTIONAL_ID_NOT_FOUND
    assert [each.error_code for each in shown] == [not_found, 0, error_codes.INVALID_REQUEST, not_found]
    assert [each.transaction_state for each in shown] == ["", "Empty", "", ""]


def test_another_broker_is_the_coordinator() -> None:
    (shown,) = described(Harness(), "app")
    assert shown.error_code == error_codes.NOT_COORDINATOR


def test_repetitions_do_not_make_an_endless_response(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST_BYTES", 2000)
    node = Coordinated()
    node.put("app", state=ONGOING, topic_partitions=frozenset(("t", index) for index in range(100)))
    shown = described(node, *["app"] * 6)
    assert [each.error_code for each in shown] == [0, 0, 0] + [error_codes.INVALID_REQUEST] * 3
