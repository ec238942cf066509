"""What the coordinator knows of one transactional id: each step, field by field."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.transactions.transaction_metadata import (
    TransactionMetadata,
    is_exhausted,
    prepare_abort_or_commit,
    prepare_add_partitions,
    prepare_complete,
    prepare_dead,
    prepare_fence_producer_epoch,
    prepare_increment_producer_epoch,
    prepare_producer_id_rotation,
)
from kafkadouble.server.transactions.transaction_state import (
    BETWEEN_TRANSACTIONS,
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    DEAD,
    EMPTY,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    PREPARE_EPOCH_FENCE,
    VALID_PREVIOUS_STATES,
    TransactionState,
)
from tests.server.transactions.sample import (
    EPOCH,
    NEXT,
    NOW,
    PARTITIONS,
    PREVIOUS,
    PRODUCER,
    STARTED,
    UPDATED,
    code_of,
    entry_in,
    metadata_in,
)

BETWEEN = sorted(BETWEEN_TRANSACTIONS, key=lambda state: state.value)


@pytest.mark.parametrize(
    ("epoch", "exhausted"), [(-1, False), (0, False), (32765, False), (32766, True), (32767, True)]
)
def test_the_last_epoch_of_a_producer_is_32766(epoch: int, exhausted: bool) -> None:
    assert is_exhausted(epoch) is exhausted
    assert metadata_in(EMPTY, producer_epoch=epoch).has_exhausted_epochs is exhausted


# The entry.


@pytest.mark.parametrize("before", TransactionState)
@pytest.mark.parametrize("after", TransactionState)
def test_only_legal_transitions_begin(before: TransactionState, after: TransactionState) -> None:
    entry, following = entry_in(before), metadata_in(after)
    if before in VALID_PREVIOUS_STATES[after]:
        assert entry.begin(following) is following
        assert entry.pending_state is after
    else:
        with pytest.raises(RuntimeError, match=f"in {before.label} cannot become {after.label}"):
            entry.begin(following)
        assert entry.pending_state is None
    assert entry.metadata == metadata_in(before)


def test_transactional_id_has_one_transition_at_a_time() -> None:
    entry = entry_in(ONGOING, pending=PREPARE_COMMIT)
    with pytest.raises(RuntimeError, match="'t' in Ongoing, PrepareCommit pending cannot become PrepareAbort"):
        entry.begin(metadata_in(PREPARE_ABORT))
    assert entry.pending_state is PREPARE_COMMIT


def test_a_written_transition_is_the_state() -> None:
    entry, following = entry_in(ONGOING), metadata_in(PREPARE_COMMIT)
    entry.begin(following)
    entry.complete(following)
    assert entry.metadata is following
    assert entry.pending_state is None


def test_partitions_leave_when_they_have_their_markers() -> None:
    entry = entry_in(PREPARE_COMMIT, pending=COMPLETE_COMMIT)
    entry.marked([("orders", 0), ("payments", 1), ("unknown", 5)])
    assert entry.metadata == metadata_in(PREPARE_COMMIT, topic_partitions=frozenset({("orders", 3)}))
    entry.marked([("orders", 3)])
    assert entry.metadata.topic_partitions == frozenset()
    assert entry.pending_state is COMPLETE_COMMIT


# InitProducerId.


def begun(producer_id: int, epoch: int, last: int, before: TransactionMetadata) -> TransactionMetadata:
    """A producer that begins: no partitions, no start, its own time-out."""
    return before._replace(
        state=EMPTY,
        producer_id=producer_id,
        previous_producer_id=PRODUCER,
        producer_epoch=epoch,
        last_producer_epoch=last,
        txn_timeout_ms=99,
        topic_partitions=frozenset(),
        txn_start_timestamp=-1,
        txn_last_update_timestamp=NOW,
    )


@pytest.mark.parametrize(
    ("epoch", "last", "expected", "following"),
    [
        (-1, -1, None, (0, -1)),
        (7, 6, None, (8, -1)),
        (7, 6, 7, (8, 7)),
        (7, 6, 6, (7, 6)),
        (0, -1, 0, (1, 0)),
        (32765, 6, None, (32766, -1)),
        (32765, 6, 32765, (32766, 32765)),
        (32765, 6, 6, (32765, 6)),
        # The coordinator has just created the id.
        (-1, -1, 5, (0, -1)),
        (-1, -1, 32766, (0, -1)),
        # A repeated request after the producer id has changed.
        (0, 32766, 32766, (0, 32766)),
    ],
)
@pytest.mark.parametrize("state", BETWEEN)
def test_the_epoch_of_a_producer_that_begins(
    state: TransactionState, epoch: int, last: int, expected: int | None, following: tuple[int, int]
) -> None:
    before = metadata_in(state, producer_epoch=epoch, last_producer_epoch=last, previous_producer_id=PREVIOUS)
    after = prepare_increment_producer_epoch(before, 99, expected, NOW)
    assert after == begun(PRODUCER, *following, before)


@pytest.mark.parametrize("expected", [5, 8, 0, -1, 32766])
def test_another_expected_epoch_is_fenced(expected: int) -> None:
    before = metadata_in(EMPTY, last_producer_epoch=6)
    assert code_of(lambda: prepare_increment_producer_epoch(before, 99, expected, NOW)) == error_codes.PRODUCER_FENCED


@pytest.mark.parametrize("expected", [None, 3, 32765, 32766, 32767])
@pytest.mark.parametrize("epoch", [32766, 32767])
def test_no_epoch_follows_the_last(epoch: int, expected: int | None) -> None:
    before = metadata_in(COMPLETE_COMMIT, producer_epoch=epoch, last_producer_epoch=3)
    assert (
        code_of(lambda: prepare_increment_producer_epoch(before, 99, expected, NOW)) == error_codes.UNKNOWN_SERVER_ERROR
    )


@pytest.mark.parametrize("epoch", [32766, 32767])
@pytest.mark.parametrize("keep", [True, False])
def test_a_new_producer_id(epoch: int, keep: bool) -> None:
    before = metadata_in(COMPLETE_ABORT, producer_epoch=epoch, last_producer_epoch=3, previous_producer_id=PREVIOUS)
    after = prepare_producer_id_rotation(before, NEXT, 99, NOW, keep_last_epoch=keep)
    assert after == begun(NEXT, 0, epoch if keep else -1, before)


# The fence.


@pytest.mark.parametrize(
    ("epoch", "failed", "fence"),
    [
        (0, False, 1),
        (7, False, 8),
        (7, True, 7),
        (32765, False, 32766),
        (32766, False, 32767),
        (32766, True, 32766),
        (32767, False, 32767),
        (32767, True, 32767),
    ],
)
def test_the_epoch_of_a_fence(epoch: int, failed: bool, fence: int) -> None:
    entry = entry_in(ONGOING, producer_epoch=epoch, last_producer_epoch=3, previous_producer_id=PREVIOUS)
    entry.fence_failed = failed
    before = entry.metadata
    assert prepare_fence_producer_epoch(entry) == before._replace(
        state=PREPARE_EPOCH_FENCE, producer_epoch=fence, previous_producer_id=PRODUCER
    )
    assert entry.metadata is before
    assert entry.pending_state is None


# The transaction.


@pytest.mark.parametrize("state", [*BETWEEN, ONGOING])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_partitions_are_added(state: TransactionState, version: int) -> None:
    before = metadata_in(state, previous_producer_id=PREVIOUS, last_producer_epoch=6)
    after = prepare_add_partitions(before, [("orders", 0), ("new", 4)], NOW, version)
    is_open = state is ONGOING
    assert after == before._replace(
        state=ONGOING,
        previous_producer_id=PRODUCER,
        topic_partitions=(PARTITIONS if is_open else frozenset()) | {("orders", 0), ("new", 4)},
        txn_start_timestamp=STARTED if is_open else NOW,
        txn_last_update_timestamp=NOW,
        client_transaction_version=version,
    )


@pytest.mark.parametrize("state", [PREPARE_COMMIT, PREPARE_ABORT])
@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("epoch", [7, 32766, 32767])
def test_an_outcome_before_version_2_keeps_the_epoch(state: TransactionState, version: int, epoch: int) -> None:
    before = metadata_in(ONGOING, producer_epoch=epoch, last_producer_epoch=3, previous_producer_id=PREVIOUS)
    after = prepare_abort_or_commit(before, state, version, -1, NOW)
    assert after == before._replace(
        state=state,
        previous_producer_id=PRODUCER,
        txn_last_update_timestamp=NOW,
        client_transaction_version=version,
    )


@pytest.mark.parametrize(
    ("state", "epoch", "raised"),
    [
        (PREPARE_COMMIT, 7, 8),
        (PREPARE_COMMIT, 32765, 32766),
        (PREPARE_COMMIT, 32766, 32767),
        (PREPARE_ABORT, 7, 8),
        (PREPARE_ABORT, 32765, 32766),
        (PREPARE_ABORT, 32766, 32767),
        (PREPARE_ABORT, 32767, 32767),
    ],
)
def test_an_outcome_of_version_2_raises_the_epoch(state: TransactionState, epoch: int, raised: int) -> None:
    before = metadata_in(ONGOING, producer_epoch=epoch, last_producer_epoch=3, previous_producer_id=PREVIOUS)
    after = prepare_abort_or_commit(before, state, 2, NEXT, NOW)
    assert after == before._replace(
        state=state,
        previous_producer_id=PRODUCER,
        next_producer_id=NEXT,
        producer_epoch=raised,
        last_producer_epoch=epoch,
        txn_last_update_timestamp=NOW,
    )


def test_no_commit_at_the_last_epoch() -> None:
    before = metadata_in(ONGOING, producer_epoch=32767)
    assert (
        code_of(lambda: prepare_abort_or_commit(before, PREPARE_COMMIT, 2, NEXT, NOW))
        == error_codes.UNKNOWN_SERVER_ERROR
    )


@pytest.mark.parametrize("state", BETWEEN)
def test_an_abort_without_partitions_starts_now(state: TransactionState) -> None:
    after = prepare_abort_or_commit(metadata_in(state), PREPARE_ABORT, 2, -1, NOW, no_partition_added=True)
    assert (after.state, after.txn_start_timestamp, after.producer_epoch) == (PREPARE_ABORT, NOW, EPOCH + 1)


@pytest.mark.parametrize(("before", "after"), [(PREPARE_COMMIT, COMPLETE_COMMIT), (PREPARE_ABORT, COMPLETE_ABORT)])
@pytest.mark.parametrize(
    ("version", "next_id", "following"),
    [
        (0, -1, (PRODUCER, 32767)),
        (0, NEXT, (PRODUCER, 32767)),
        (1, -1, (PRODUCER, 32767)),
        (1, NEXT, (PRODUCER, 32767)),
        (2, -1, (PRODUCER, 32767)),
        (2, NEXT, (NEXT, 0)),
    ],
)
def test_a_transaction_is_complete(
    before: TransactionState, after: TransactionState, version: int, next_id: int, following: tuple[int, int]
) -> None:
    metadata = metadata_in(
        before,
        producer_epoch=32767,
        last_producer_epoch=32766,
        previous_producer_id=PREVIOUS,
        next_producer_id=next_id,
        client_transaction_version=version,
    )
    producer_id, epoch = following
    assert prepare_complete(metadata, NOW) == metadata._replace(
        state=after,
        producer_id=producer_id,
        producer_epoch=epoch,
        previous_producer_id=PRODUCER,
        next_producer_id=-1,
        topic_partitions=frozenset(),
        txn_last_update_timestamp=NOW,
    )


@pytest.mark.parametrize("state", BETWEEN)
def test_an_expired_id_is_dead(state: TransactionState) -> None:
    before = metadata_in(state, previous_producer_id=PREVIOUS)
    assert prepare_dead(before) == before._replace(state=DEAD, previous_producer_id=PRODUCER)
    assert prepare_dead(before).txn_last_update_timestamp == UPDATED
