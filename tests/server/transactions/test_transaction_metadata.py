"""What the coordinator knows of one transactional id: each step, field by field."""

from __future__ import annotations

import pytest

from kafkadouble.server.transactions.transaction_metadata import (
    is_exhausted,
    prepare_complete,
    prepare_dead,
    prepare_fence_producer_epoch,
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
    NEXT,
    NOW,
    PREVIOUS,
    PRODUCER,
    UPDATED,
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
