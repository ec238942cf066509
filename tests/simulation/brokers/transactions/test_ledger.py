"""The ledger tells when transactions break their promises: committed records that no core would
write."""

from __future__ import annotations

import pytest

from tests.simulation.brokers.history import History
from tests.simulation.brokers.kept import ABORTED, COMMITTED, Kept
from tests.simulation.brokers.transactions.ledger import Ledger, Transaction
from tests.simulation.world import Broken


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(lambda: True)


def begun(ledger: Ledger, *values: int) -> Transaction:
    """A transaction with a value in each partition, whose commit is requested."""
    transaction = ledger.begin("app", 1, 0)
    for index, value in enumerate(values):
        ledger.sends(transaction, [value], index)
    transaction.may_commit = True
    return transaction


def history(*content: int | str) -> History:
    """Transactional records of these values, and markers of these kinds."""
    made = History()
    for offset, each in enumerate(content):
        value, marker = (each, "") if isinstance(each, int) else (-1, each)
        made.records.append(Kept(offset, 0, value, 1, 0, 0, True, marker))
    return made


def test_a_transaction_that_keeps_every_promise(ledger: Ledger) -> None:
    transaction, histories = begun(ledger, 7, 8), [history(7, COMMITTED), history(8, COMMITTED)]
    for index, each in enumerate(histories):
        ledger.read(index, each)
    transaction.ended(COMMITTED)
    ledger.check_end(histories)
    assert [ledger.committed_values(each) for each in histories] == [[7], [8]]


def test_a_committed_transaction_lacks_a_record(ledger: Ledger) -> None:
    begun(ledger, 7, 8)
    histories = [history(7, COMMITTED), history(COMMITTED)]
    ledger.read(0, histories[0])
    with pytest.raises(Broken, match=r"is committed, and \[8\] are not there"):
        ledger.check_end(histories)


def test_a_commit_that_was_answered_has_no_marker(ledger: Ledger) -> None:
    begun(ledger, 7).ended(COMMITTED)
    ledger.read(0, history(7))
    with pytest.raises(Broken, match="was answered as committed, and has no marker"):
        ledger.check_end([history(7)])


def test_two_partitions_disagree(ledger: Ledger) -> None:
    begun(ledger, 7, 8)
    ledger.read(0, history(7, COMMITTED))
    with pytest.raises(Broken, match=r"has Kept.*marker='abort'.* in one partition"):
        ledger.read(1, history(8, ABORTED))


def test_a_commit_that_was_not_requested(ledger: Ledger) -> None:
    begun(ledger, 7).may_commit = False
    with pytest.raises(Broken, match=r"requested False.* gets Kept"):
        ledger.read(0, history(7, COMMITTED))


def test_ledger_refuses_an_abort_after_a_committed_response(ledger: Ledger) -> None:
    begun(ledger, 7).ended(COMMITTED)
    with pytest.raises(Broken, match=r"answered commit.* gets Kept"):
        ledger.read(0, history(7, ABORTED))


def test_ledger_counts_an_open_transaction_of_a_fenced_producer_as_aborted(ledger: Ledger) -> None:
    begun(ledger, 7)
    ledger.given("app", 1, 1)
    with pytest.raises(Broken, match=r"answered abort.* gets Kept"):
        ledger.read(0, history(7, COMMITTED))


def test_a_marker_ends_two_transactions(ledger: Ledger) -> None:
    begun(ledger, 7)
    begun(ledger, 8)
    with pytest.raises(Broken, match="ends 2 transactions at once"):
        ledger.read(0, history(7, 8, COMMITTED))


def test_ledger_promises_nothing_of_partitions_with_lost_records() -> None:
    ledger = Ledger(lambda: False)
    begun(ledger, 7).ended(COMMITTED)
    ledger.read(0, history(7, ABORTED))
