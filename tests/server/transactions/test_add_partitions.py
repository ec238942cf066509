"""AddPartitionsToTxn in every state: what is added, and what is verified."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.transactions.add_partitions import add_partitions, verify_partitions
from kafkadouble.server.transactions.init_producer_id import ProducerIdAndEpoch
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
    NOW,
    PARTITIONS,
    PREVIOUS,
    PRODUCER,
    STORED_STATES,
    code_of,
    entry_in,
)

CURRENT = ProducerIdAndEpoch(PRODUCER, EPOCH)
KNOWN, NEW = ("orders", 0), ("orders", 9)
BETWEEN = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
WRONG_PRODUCERS = [
    (ProducerIdAndEpoch(1, EPOCH), error_codes.INVALID_PRODUCER_ID_MAPPING),
    (ProducerIdAndEpoch(1, 0), error_codes.INVALID_PRODUCER_ID_MAPPING),
    (ProducerIdAndEpoch(PREVIOUS, 32766), error_codes.INVALID_PRODUCER_ID_MAPPING),
    (ProducerIdAndEpoch(PRODUCER, EPOCH - 1), error_codes.PRODUCER_FENCED),
    (ProducerIdAndEpoch(PRODUCER, EPOCH + 1), error_codes.PRODUCER_FENCED),
    (ProducerIdAndEpoch(PRODUCER, -1), error_codes.PRODUCER_FENCED),
]

# Added.


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("state", BETWEEN)
def test_the_first_partitions_begin_the_transaction(state: TransactionState, version: int) -> None:
    entry = entry_in(state, previous_producer_id=PREVIOUS)
    before = entry.metadata
    assert add_partitions(entry, CURRENT, [KNOWN, NEW], version, NOW) == before._replace(
        state=ONGOING,
        previous_producer_id=PRODUCER,
        topic_partitions=frozenset({KNOWN, NEW}),
        txn_start_timestamp=NOW,
        txn_last_update_timestamp=NOW,
        client_transaction_version=version,
    )
    assert entry.metadata is before


@pytest.mark.parametrize("state", BETWEEN)
def test_no_partitions_begin_a_transaction_too(state: TransactionState) -> None:
    following = add_partitions(entry_in(state), CURRENT, [], 2, NOW)
    assert following is not None
    assert (following.state, following.topic_partitions) == (ONGOING, frozenset())


@pytest.mark.parametrize("version", [0, 1, 2])
def test_further_partitions_join_the_transaction(version: int) -> None:
    entry = entry_in(ONGOING)
    assert add_partitions(entry, CURRENT, [KNOWN, NEW], version, NOW) == entry.metadata._replace(
        topic_partitions=PARTITIONS | {NEW}, txn_last_update_timestamp=NOW, client_transaction_version=version
    )


@pytest.mark.parametrize("partitions", [[], [KNOWN], sorted(PARTITIONS)])
def test_known_partitions_change_nothing(partitions: list[tuple[str, int]]) -> None:
    assert add_partitions(entry_in(ONGOING), CURRENT, partitions, 2, NOW) is None


@pytest.mark.parametrize("state", [PREPARE_COMMIT, PREPARE_ABORT])
@pytest.mark.parametrize("partition", [KNOWN, NEW])
def test_a_decided_transaction_takes_no_partitions(state: TransactionState, partition: tuple[str, int]) -> None:
    entry = entry_in(state)
    code = code_of(lambda: add_partitions(entry, CURRENT, [partition], 2, NOW))
    assert code == error_codes.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize("state", STORED_STATES)
@pytest.mark.parametrize(("producer", "code"), WRONG_PRODUCERS)
def test_a_wrong_producer_adds_nothing(state: TransactionState, producer: ProducerIdAndEpoch, code: int) -> None:
    assert code_of(lambda: add_partitions(entry_in(state), producer, [KNOWN], 2, NOW)) == code


@pytest.mark.parametrize("state", STORED_STATES)
@pytest.mark.parametrize("producer", [CURRENT, *(producer for producer, _ in WRONG_PRODUCERS)])
def test_a_pending_transition_comes_before_all_else(state: TransactionState, producer: ProducerIdAndEpoch) -> None:
    entry = entry_in(state, pending=ONGOING)
    code = code_of(lambda: add_partitions(entry, producer, [KNOWN], 2, NOW))
    assert code == error_codes.CONCURRENT_TRANSACTIONS


def test_an_id_whose_producer_was_never_written_takes_no_partitions() -> None:
    entry = entry_in(EMPTY, producer_epoch=-1)
    code = code_of(lambda: add_partitions(entry, ProducerIdAndEpoch(PRODUCER, -1), [KNOWN], 2, NOW))
    assert code == error_codes.UNKNOWN_SERVER_ERROR


# Verified.


@pytest.mark.parametrize("pending", [None, ONGOING, PREPARE_COMMIT])
@pytest.mark.parametrize(
    ("state", "code"),
    [
        (EMPTY, error_codes.TRANSACTION_ABORTABLE),
        (ONGOING, error_codes.NONE),
        (COMPLETE_COMMIT, error_codes.TRANSACTION_ABORTABLE),
        (COMPLETE_ABORT, error_codes.TRANSACTION_ABORTABLE),
    ],
)
def test_partitions_are_verified(state: TransactionState, code: int, pending: TransactionState | None) -> None:
    entry = entry_in(state, pending=pending)
    before = entry.metadata
    answer = verify_partitions(entry, CURRENT, [KNOWN, NEW])
    assert answer == {KNOWN: code, NEW: error_codes.TRANSACTION_ABORTABLE}
    assert entry.metadata is before


@pytest.mark.parametrize("pending", [None, COMPLETE_COMMIT])
@pytest.mark.parametrize("state", [PREPARE_COMMIT, PREPARE_ABORT])
def test_a_decided_transaction_is_not_verified(state: TransactionState, pending: TransactionState | None) -> None:
    entry = entry_in(state, pending=pending)
    assert code_of(lambda: verify_partitions(entry, CURRENT, [KNOWN])) == error_codes.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize("pending", [None, ONGOING])
@pytest.mark.parametrize("state", STORED_STATES)
@pytest.mark.parametrize(("producer", "code"), WRONG_PRODUCERS)
def test_a_wrong_producer_is_not_verified(
    state: TransactionState, pending: TransactionState | None, producer: ProducerIdAndEpoch, code: int
) -> None:
    assert code_of(lambda: verify_partitions(entry_in(state, pending=pending), producer, [KNOWN])) == code
