"""InitProducerId in every state, with and without an expected producer id and epoch."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.transactions.init_producer_id import ProducerIdAndEpoch, init_producer_id
from kafkadouble.server.transactions.transaction_metadata import TransactionalIdEntry, TransactionMetadata
from kafkadouble.server.transactions.transaction_state import (
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
    STORED_STATES,
    assigns,
    assigns_none,
    code_of,
    entry_in,
    has_none_yet,
)

CURRENT = ProducerIdAndEpoch(PRODUCER, EPOCH)
BETWEEN = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
LAST_EPOCHS = (32766, 32767)


def init(
    entry: TransactionalIdEntry, expected: ProducerIdAndEpoch | None = None, next_producer_id: int | None = None
) -> TransactionMetadata | None:
    """The step; it must not take a producer id unless there is one."""
    ids = assigns_none if next_producer_id is None else assigns(next_producer_id)
    before = entry.metadata
    try:
        return init_producer_id(entry, expected, 99, ids, NOW)
    finally:
        assert entry.metadata is before


def producer_of(following: TransactionMetadata | None) -> tuple[int, int, int]:
    """Producer id, epoch and last epoch of the state to write: no transaction, its own time-out."""
    assert following is not None
    assert (following.state, following.previous_producer_id, following.topic_partitions) == (
        EMPTY,
        PRODUCER,
        frozenset(),
    )
    times = following.txn_timeout_ms, following.txn_start_timestamp, following.txn_last_update_timestamp
    assert times == (99, -1, NOW)
    return following.producer_id, following.producer_epoch, following.last_producer_epoch


@pytest.mark.parametrize("state", BETWEEN)
def test_between_transactions_a_producer_gets_the_next_epoch(state: TransactionState) -> None:
    assert producer_of(init(entry_in(state))) == (PRODUCER, EPOCH + 1, -1)
    assert producer_of(init(entry_in(state), CURRENT)) == (PRODUCER, EPOCH + 1, EPOCH)


@pytest.mark.parametrize("expected", [None, CURRENT, ProducerIdAndEpoch(PRODUCER, 3)])
def test_an_open_transaction_is_aborted_first(expected: ProducerIdAndEpoch | None) -> None:
    entry = entry_in(ONGOING)
    assert init(entry, expected) is None
    assert entry.pending_state is None


@pytest.mark.parametrize("epoch", LAST_EPOCHS)
def test_an_open_transaction_is_aborted_first_at_the_last_epochs_too(epoch: int) -> None:
    assert init(entry_in(ONGOING, producer_epoch=epoch)) is None


@pytest.mark.parametrize("expected", [None, CURRENT, ProducerIdAndEpoch(PRODUCER, 3)])
@pytest.mark.parametrize("state", [PREPARE_COMMIT, PREPARE_ABORT])
def test_a_decided_transaction_must_be_complete_first(
    state: TransactionState, expected: ProducerIdAndEpoch | None
) -> None:
    assert code_of(lambda: init(entry_in(state), expected)) == error_codes.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize("pending", STORED_STATES)
@pytest.mark.parametrize("state", STORED_STATES)
@pytest.mark.parametrize("expected", [None, CURRENT, ProducerIdAndEpoch(1, 0)])
def test_a_pending_transition_comes_first(
    state: TransactionState, pending: TransactionState, expected: ProducerIdAndEpoch | None
) -> None:
    entry = entry_in(state, pending=pending)
    assert code_of(lambda: init(entry, expected)) == error_codes.CONCURRENT_TRANSACTIONS
    assert entry.pending_state is pending


@pytest.mark.parametrize("state", STORED_STATES)
@pytest.mark.parametrize("epoch", [EPOCH, -1, 32765, 32766])
def test_a_foreign_producer_id_is_fenced_in_every_state(state: TransactionState, epoch: int) -> None:
    assert code_of(lambda: init(entry_in(state), ProducerIdAndEpoch(1, epoch))) == error_codes.PRODUCER_FENCED


@pytest.mark.parametrize("state", BETWEEN)
def test_a_repeated_request_gets_the_same_epoch_again(state: TransactionState) -> None:
    entry = entry_in(state, last_producer_epoch=EPOCH - 1)
    assert producer_of(init(entry, ProducerIdAndEpoch(PRODUCER, EPOCH - 1))) == (PRODUCER, EPOCH, EPOCH - 1)


@pytest.mark.parametrize("state", BETWEEN)
@pytest.mark.parametrize("epoch", [EPOCH - 2, EPOCH + 1, 32766])
def test_another_epoch_is_fenced(state: TransactionState, epoch: int) -> None:
    entry = entry_in(state, last_producer_epoch=EPOCH - 1)
    assert code_of(lambda: init(entry, ProducerIdAndEpoch(PRODUCER, epoch))) == error_codes.PRODUCER_FENCED


@pytest.mark.parametrize("expected", [None, ProducerIdAndEpoch(1, 12), ProducerIdAndEpoch(PRODUCER, 32766)])
def test_a_new_id_accepts_any_producer(expected: ProducerIdAndEpoch | None) -> None:
    """The log has lost an expired id, and its producer continues."""
    entry = entry_in(EMPTY, producer_epoch=-1)
    assert producer_of(init(entry, expected)) == (PRODUCER, 0, -1)


# The epochs run out.


@pytest.mark.parametrize("state", BETWEEN)
def test_a_producer_is_given_32766(state: TransactionState) -> None:
    entry = entry_in(state, producer_epoch=32765)
    assert producer_of(init(entry)) == (PRODUCER, 32766, -1)
    assert producer_of(init(entry, ProducerIdAndEpoch(PRODUCER, 32765))) == (PRODUCER, 32766, 32765)


@pytest.mark.parametrize("epoch", LAST_EPOCHS)
@pytest.mark.parametrize("state", BETWEEN)
def test_a_new_producer_id_follows_the_last_epoch(state: TransactionState, epoch: int) -> None:
    entry = entry_in(state, producer_epoch=epoch, previous_producer_id=PREVIOUS)
    assert producer_of(init(entry, None, NEXT)) == (NEXT, 0, -1)
    assert producer_of(init(entry, ProducerIdAndEpoch(PRODUCER, epoch), NEXT)) == (NEXT, 0, epoch)


@pytest.mark.parametrize("epoch", LAST_EPOCHS)
@pytest.mark.parametrize("expected", [0, 3, 32765])
def test_another_epoch_than_an_exhausted_one_is_an_error_of_the_server(epoch: int, expected: int) -> None:
    """Kafka throws, although 3 is the last epoch here, and 0 is unknown."""
    entry = entry_in(COMPLETE_COMMIT, producer_epoch=epoch, last_producer_epoch=3)
    asked = ProducerIdAndEpoch(PRODUCER, expected)
    assert code_of(lambda: init(entry, asked)) == error_codes.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("epoch", LAST_EPOCHS)
def test_no_new_producer_id_is_there_yet(epoch: int) -> None:
    entry = entry_in(EMPTY, producer_epoch=epoch)
    assert (
        code_of(lambda: init_producer_id(entry, None, 99, has_none_yet, NOW))
        == error_codes.COORDINATOR_LOAD_IN_PROGRESS
    )
    assert entry.pending_state is None


@pytest.mark.parametrize("epoch", LAST_EPOCHS)
def test_a_request_is_repeated_after_the_producer_id_changed(epoch: int) -> None:
    old = ProducerIdAndEpoch(PREVIOUS, epoch)
    entry = entry_in(EMPTY, producer_epoch=0, last_producer_epoch=epoch, previous_producer_id=PREVIOUS)
    following = init(entry, old)
    assert producer_of(following) == (PRODUCER, 0, epoch)
    # Kafka forgets the previous id now: one more repetition is fenced.
    assert following is not None
    assert code_of(lambda: init(TransactionalIdEntry("t", following), old)) == error_codes.PRODUCER_FENCED


@pytest.mark.parametrize("epoch", [0, EPOCH, 32765])
def test_the_previous_producer_id_with_another_epoch_is_fenced(epoch: int) -> None:
    entry = entry_in(EMPTY, producer_epoch=0, last_producer_epoch=epoch, previous_producer_id=PREVIOUS)
    assert code_of(lambda: init(entry, ProducerIdAndEpoch(PREVIOUS, epoch))) == error_codes.PRODUCER_FENCED
