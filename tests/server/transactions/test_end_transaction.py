"""EndTxn: every state, result, epoch and protocol version."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.transactions.end_transaction import EndOfTransaction, end_transaction
from kafkadouble.server.transactions.transaction_metadata import (
    TransactionalIdEntry,
    TransactionMetadata,
    prepare_fence_producer_epoch,
)
from kafkadouble.server.transactions.transaction_state import (
    BY_LABEL,
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    TransactionState,
)
from tests.server.transactions.sample import (
    EPOCH,
    NEXT,
    NOW,
    PREVIOUS,
    PRODUCER,
    STARTED,
    STORED_STATES,
    assigns,
    assigns_none,
    code_of,
    entry_in,
    has_none_yet,
)

RESULTS = {"commit": True, "abort": False}
OUTCOMES = {
    "again": error_codes.CONCURRENT_TRANSACTIONS,
    "wrong": error_codes.INVALID_TXN_STATE,
    "fenced": error_codes.PRODUCER_FENCED,
}
"""Besides these, "begin" writes PrepareCommit or PrepareAbort, and "done" is a success at once."""


def client(result: str, version: int, epoch: int = EPOCH, producer_id: int = PRODUCER) -> EndOfTransaction:
    return EndOfTransaction(producer_id, epoch, RESULTS[result], version)


def end(
    entry: TransactionalIdEntry, end: EndOfTransaction, ids: Callable[[], int] = assigns_none
) -> TransactionMetadata | None:
    return end_transaction(entry, end, ids, NOW)


def assert_outcome(entry: TransactionalIdEntry, end_: EndOfTransaction, outcome: str) -> None:
    before, pending = entry.metadata, entry.pending_state
    if outcome == "begin":
        following = end(entry, end_)
        assert following is not None
        assert following.state is (PREPARE_COMMIT if end_.committed else PREPARE_ABORT)
        assert following.client_transaction_version == (2 if end_.client_version == 2 else 0)
    elif outcome == "done":
        assert end(entry, end_) is None
    else:
        assert code_of(lambda: end(entry, end_)) == OUTCOMES[outcome]
    assert entry.metadata is before
    assert entry.pending_state is pending


def rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


# Versions 0 and 1: the state alone decides.

V1 = """
Empty           commit  wrong
Empty           abort   wrong
Ongoing         commit  begin
Ongoing         abort   begin
PrepareCommit   commit  again
PrepareCommit   abort   wrong
PrepareAbort    commit  wrong
PrepareAbort    abort   again
CompleteCommit  commit  done
CompleteCommit  abort   wrong
CompleteAbort   commit  wrong
CompleteAbort   abort   done
"""


@pytest.mark.parametrize(("state", "result", "outcome"), rows(V1))
@pytest.mark.parametrize("version", [0, 1])
def test_the_outcome_before_version_2(state: str, result: str, outcome: str, version: int) -> None:
    assert_outcome(entry_in(BY_LABEL[state]), client(result, version), outcome)


@pytest.mark.parametrize("epoch", [-1, EPOCH - 1, EPOCH + 1, 32766])
@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("state", STORED_STATES)
@pytest.mark.parametrize("version", [0, 1])
def test_every_other_epoch_is_fenced_before_version_2(
    state: TransactionState, result: str, epoch: int, version: int
) -> None:
    assert_outcome(entry_in(state), client(result, version, epoch), "fenced")


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("version", [0, 1])
def test_before_version_2_the_producer_is_checked_before_a_pending_transition(result: str, version: int) -> None:
    entry = entry_in(ONGOING, pending=PREPARE_COMMIT)
    foreign = client(result, version, producer_id=1)
    assert code_of(lambda: end(entry, foreign)) == error_codes.INVALID_PRODUCER_ID_MAPPING
    assert_outcome(entry, client(result, version, EPOCH - 1), "fenced")
    assert_outcome(entry, client(result, version), "again")


# Version 2: a request with the current epoch is new, one with the epoch before is repeated.

V2 = """
Empty           commit  new       wrong
Empty           commit  repeated  fenced
Empty           abort   new       begin
Empty           abort   repeated  fenced
Ongoing         commit  new       begin
Ongoing         commit  repeated  fenced
Ongoing         abort   new       begin
Ongoing         abort   repeated  fenced
PrepareCommit   commit  new       fenced
PrepareCommit   commit  repeated  again
PrepareCommit   abort   new       fenced
PrepareCommit   abort   repeated  wrong
PrepareAbort    commit  new       fenced
PrepareAbort    commit  repeated  wrong
PrepareAbort    abort   new       fenced
PrepareAbort    abort   repeated  again
CompleteCommit  commit  new       wrong
CompleteCommit  commit  repeated  done
CompleteCommit  abort   new       begin
CompleteCommit  abort   repeated  wrong
CompleteAbort   commit  new       wrong
CompleteAbort   commit  repeated  wrong
CompleteAbort   abort   new       begin
CompleteAbort   abort   repeated  done
"""


@pytest.mark.parametrize(("state", "result", "epoch", "outcome"), rows(V2))
def test_the_outcome_of_version_2(state: str, result: str, epoch: str, outcome: str) -> None:
    behind = 1 if epoch == "repeated" else 0
    assert_outcome(entry_in(BY_LABEL[state]), client(result, 2, EPOCH - behind), outcome)


@pytest.mark.parametrize("epoch", [-1, EPOCH - 2, EPOCH + 1, 32766])
@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("state", STORED_STATES)
def test_every_other_epoch_is_fenced_in_version_2(state: TransactionState, result: str, epoch: int) -> None:
    assert_outcome(entry_in(state), client(result, 2, epoch), "fenced")


ROTATED = """
Empty           commit  fenced
Empty           abort   fenced
Ongoing         commit  fenced
Ongoing         abort   fenced
PrepareCommit   commit  fenced
PrepareCommit   abort   fenced
PrepareAbort    commit  fenced
PrepareAbort    abort   fenced
CompleteCommit  commit  done
CompleteCommit  abort   wrong
CompleteAbort   commit  wrong
CompleteAbort   abort   done
"""


@pytest.mark.parametrize(("state", "result", "outcome"), rows(ROTATED))
def test_a_repeated_end_after_the_producer_id_changed(state: str, result: str, outcome: str) -> None:
    entry = entry_in(BY_LABEL[state], producer_epoch=0, previous_producer_id=PREVIOUS)
    assert_outcome(entry, client(result, 2, 32766, PREVIOUS), outcome)


@pytest.mark.parametrize(
    ("current_epoch", "epoch", "producer_id"), [(0, 32766, 1), (0, 32765, PREVIOUS), (1, 32766, PREVIOUS)]
)
@pytest.mark.parametrize("state", STORED_STATES)
def test_another_producer_id_is_unknown(
    state: TransactionState, current_epoch: int, epoch: int, producer_id: int
) -> None:
    entry = entry_in(state, producer_epoch=current_epoch, previous_producer_id=PREVIOUS)
    foreign = client("commit", 2, epoch, producer_id)
    assert code_of(lambda: end(entry, foreign)) == error_codes.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("state", STORED_STATES)
def test_before_version_2_the_previous_producer_id_is_unknown(state: TransactionState, version: int) -> None:
    entry = entry_in(state, producer_epoch=0, previous_producer_id=PREVIOUS)
    foreign = client("commit", version, 32766, PREVIOUS)
    assert code_of(lambda: end(entry, foreign)) == error_codes.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize(("epoch", "producer_id"), [(EPOCH, PRODUCER), (3, PRODUCER), (EPOCH, 1)])
@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("state", STORED_STATES)
def test_in_version_2_a_pending_transition_comes_first(
    state: TransactionState, result: str, epoch: int, producer_id: int
) -> None:
    assert_outcome(entry_in(state, pending=ONGOING), client(result, 2, epoch, producer_id), "again")


# The state that is written.


@pytest.mark.parametrize(("result", "state"), [("commit", PREPARE_COMMIT), ("abort", PREPARE_ABORT)])
@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("epoch", [EPOCH, 32765, 32766, 32767])
def test_before_version_2_the_producer_keeps_its_epoch(
    result: str, state: TransactionState, version: int, epoch: int
) -> None:
    entry = entry_in(ONGOING, producer_epoch=epoch, last_producer_epoch=3, previous_producer_id=PREVIOUS)
    assert end(entry, client(result, version, epoch)) == entry.metadata._replace(
        state=state, previous_producer_id=PRODUCER, txn_last_update_timestamp=NOW, client_transaction_version=0
    )


@pytest.mark.parametrize(("result", "state"), [("commit", PREPARE_COMMIT), ("abort", PREPARE_ABORT)])
@pytest.mark.parametrize("epoch", [EPOCH, 32765])
def test_in_version_2_the_epoch_is_raised(result: str, state: TransactionState, epoch: int) -> None:
    entry = entry_in(ONGOING, producer_epoch=epoch, last_producer_epoch=3)
    assert end(entry, client(result, 2, epoch)) == entry.metadata._replace(
        state=state, producer_epoch=epoch + 1, last_producer_epoch=epoch, txn_last_update_timestamp=NOW
    )


@pytest.mark.parametrize(("result", "state"), [("commit", PREPARE_COMMIT), ("abort", PREPARE_ABORT)])
def test_after_epoch_32766_the_producer_id_changes(result: str, state: TransactionState) -> None:
    entry = entry_in(ONGOING, producer_epoch=32766, last_producer_epoch=3)
    assert end(entry, client(result, 2, 32766), assigns(NEXT)) == entry.metadata._replace(
        state=state,
        producer_epoch=32767,
        last_producer_epoch=32766,
        next_producer_id=NEXT,
        txn_last_update_timestamp=NOW,
    )


@pytest.mark.parametrize("state", [EMPTY, ONGOING, COMPLETE_COMMIT, COMPLETE_ABORT])
def test_an_abort_at_epoch_32767_stays_there(state: TransactionState) -> None:
    entry = entry_in(state, producer_epoch=32767, last_producer_epoch=3)
    following = end(entry, client("abort", 2, 32767), assigns(NEXT))
    assert following is not None
    assert (following.producer_epoch, following.last_producer_epoch) == (32767, 32767)
    assert (following.state, following.next_producer_id) == (PREPARE_ABORT, NEXT)


def test_a_commit_at_epoch_32767_is_an_error_of_the_server() -> None:
    entry = entry_in(ONGOING, producer_epoch=32767)
    commit = client("commit", 2, 32767)
    assert code_of(lambda: end(entry, commit, assigns(NEXT))) == error_codes.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("epoch", [32766, 32767])
@pytest.mark.parametrize("state", [ONGOING, COMPLETE_COMMIT])
def test_no_new_producer_id_is_there_yet(state: TransactionState, epoch: int) -> None:
    entry = entry_in(state, producer_epoch=epoch)
    before = entry.metadata
    abort = client("abort", 2, epoch)
    assert code_of(lambda: end(entry, abort, has_none_yet)) == error_codes.COORDINATOR_LOAD_IN_PROGRESS
    assert entry.metadata is before
    assert entry.pending_state is None


@pytest.mark.parametrize(
    ("state", "start"), [(EMPTY, NOW), (COMPLETE_COMMIT, NOW), (COMPLETE_ABORT, NOW), (ONGOING, STARTED)]
)
def test_an_abort_without_partitions_starts_now(state: TransactionState, start: int) -> None:
    entry = entry_in(state)
    following = end(entry, client("abort", 2))
    assert following is not None
    assert following.txn_start_timestamp == start
    assert following.topic_partitions == entry.metadata.topic_partitions


def test_an_abort_before_the_first_epoch_begins() -> None:
    """The first InitProducerId was not written; Kafka does the same."""
    following = end(entry_in(EMPTY, producer_epoch=-1), client("abort", 2, -1))
    assert following is not None
    assert (following.producer_epoch, following.last_producer_epoch) == (0, -1)


# The coordinator's own abort.


def fence(entry: TransactionalIdEntry, version: int) -> EndOfTransaction:
    epoch = prepare_fence_producer_epoch(entry).producer_epoch
    return EndOfTransaction(entry.metadata.producer_id, epoch, False, version, fences=True)


@pytest.mark.parametrize(("epoch", "raised"), [(0, 1), (EPOCH, 8), (32765, 32766), (32766, 32767), (32767, 32767)])
@pytest.mark.parametrize("version", [0, 1])
def test_before_version_2_a_fence_raises_the_epoch_at_once(version: int, epoch: int, raised: int) -> None:
    entry = entry_in(ONGOING, producer_epoch=epoch, last_producer_epoch=3)
    before = entry.metadata
    following = end(entry, fence(entry, version))
    assert entry.metadata == before._replace(producer_epoch=raised, last_producer_epoch=-1)
    assert following == entry.metadata._replace(
        state=PREPARE_ABORT, txn_last_update_timestamp=NOW, client_transaction_version=0
    )


@pytest.mark.parametrize("version", [0, 1])
def test_a_fence_that_failed_does_not_raise_the_epoch_again(version: int) -> None:
    entry = entry_in(ONGOING)
    end(entry, fence(entry, version))
    entry.fence_failed = True
    following = end(entry, fence(entry, version))
    assert following is not None
    assert entry.metadata.producer_epoch == following.producer_epoch == EPOCH + 1
    assert_outcome(entry, client("commit", version), "fenced")


@pytest.mark.parametrize(("epoch", "raised"), [(0, 1), (EPOCH, 8), (32765, 32766)])
def test_in_version_2_only_the_record_of_a_fence_raises_the_epoch(epoch: int, raised: int) -> None:
    entry = entry_in(ONGOING, producer_epoch=epoch, last_producer_epoch=3)
    before = entry.metadata
    following = end(entry, fence(entry, 2))
    assert entry.metadata is before
    assert following == before._replace(
        state=PREPARE_ABORT, producer_epoch=raised, last_producer_epoch=epoch, txn_last_update_timestamp=NOW
    )


@pytest.mark.parametrize("epoch", [32766, 32767])
def test_in_version_2_a_fence_changes_the_exhausted_producer_id(epoch: int) -> None:
    entry = entry_in(ONGOING, producer_epoch=epoch)
    following = end(entry, fence(entry, 2), assigns(NEXT))
    assert following is not None
    assert (following.producer_id, following.producer_epoch, following.next_producer_id) == (PRODUCER, 32767, NEXT)
    assert entry.metadata.producer_epoch == epoch


@pytest.mark.parametrize("version", [0, 1, 2])
def test_end_transaction_of_an_old_epoch_is_fenced(version: int) -> None:
    entry = entry_in(ONGOING)
    outdated = EndOfTransaction(PRODUCER, EPOCH - 1, False, version, fences=True)
    assert_outcome(entry, outdated, "fenced")


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_fence_of_another_producer_id_is_refused(version: int) -> None:
    entry = entry_in(ONGOING, producer_epoch=0, previous_producer_id=PREVIOUS)
    foreign = EndOfTransaction(PREVIOUS, 32766, False, version, fences=True)
    assert code_of(lambda: end(entry, foreign)) == error_codes.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_fence_waits_for_a_pending_transition(version: int) -> None:
    entry = entry_in(ONGOING, pending=PREPARE_COMMIT)
    assert_outcome(entry, fence(entry, version), "again")
