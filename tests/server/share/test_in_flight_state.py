"""The table of record states, and changes that are written before they are final (KIP-932)."""

from __future__ import annotations

from itertools import product

import pytest

from kafkadouble.server.share.in_flight_batch import InFlightBatch
from kafkadouble.server.share.in_flight_state import InFlightState
from kafkadouble.server.share.record_state import (
    ACKNOWLEDGED,
    ACQUIRED,
    ARCHIVED,
    ARCHIVING,
    AVAILABLE,
    TRANSITIONS,
    RecordState,
)

LIMIT = 5
ALLOWED = {
    (AVAILABLE, ACQUIRED),
    (ACQUIRED, AVAILABLE),
    (ACQUIRED, ACKNOWLEDGED),
    (ACQUIRED, ARCHIVING),
    (ACQUIRED, ARCHIVED),
    (ARCHIVING, ARCHIVED),
}


@pytest.mark.parametrize(("before", "after"), list(product(RecordState, RecordState)))
def test_a_state_follows_another_only_as_the_table_says(before: RecordState, after: RecordState) -> None:
    state = InFlightState(0, 9, before, 1, "m")
    assert (after in TRANSITIONS[before]) == ((before, after) in ALLOWED)
    assert state.try_update(after, LIMIT, has_dlq=False, member_id="n") == ((before, after) in ALLOWED)
    assert (state.state, state.member_id) == ((after, "n") if (before, after) in ALLOWED else (before, "m"))


def test_the_ids_are_those_of_the_share_coordinator() -> None:
    assert [(each.name, each.value) for each in RecordState] == [
        ("AVAILABLE", 0),
        ("ACQUIRED", 1),
        ("ACKNOWLEDGED", 2),
        ("ARCHIVING", 3),
        ("ARCHIVED", 4),
    ]


@pytest.mark.parametrize(
    ("delivered", "has_dlq", "after"),
    [(4, False, AVAILABLE), (5, False, ARCHIVED), (6, False, ARCHIVED), (4, True, AVAILABLE), (5, True, ARCHIVING)],
)
def test_a_released_record_is_given_up_at_the_delivery_count_limit(
    delivered: int, has_dlq: bool, after: RecordState
) -> None:
    state = InFlightState(0, 0, ACQUIRED, delivered, "m", 100)
    assert state.start_transition(AVAILABLE, LIMIT, has_dlq=has_dlq)
    assert state.state is after
    assert state.delivery_count == delivered


def test_a_record_cannot_change_while_a_change_is_written() -> None:
    state = InFlightState(0, 9, ACQUIRED, 1, "m", 100)
    transition = state.start_transition(AVAILABLE, LIMIT, has_dlq=False)
    assert transition is not None
    assert (state.is_acquirable, state.state) == (False, AVAILABLE)
    assert not state.try_update(ACQUIRED, LIMIT, has_dlq=False)
    assert state.start_transition(ACQUIRED, LIMIT, has_dlq=False) is None
    transition.complete(committed=True, now=50)
    assert (state.is_acquirable, state.lock_deadline) == (True, None)


@pytest.mark.parametrize(
    ("delivered", "now", "after"),
    [
        (1, 99, (ACQUIRED, "m", 100)),
        (1, 100, (AVAILABLE, "", None)),
        (5, 99, (ACQUIRED, "m", 100)),
        (5, 100, (ARCHIVED, "", None)),
    ],
)
def test_failed_write_restores_the_record_state_or_releases_it(
    delivered: int, now: int, after: tuple[RecordState, str, int | None]
) -> None:
    state = InFlightState(0, 9, ACQUIRED, delivered, "m", 100)
    transition = state.start_transition(ACKNOWLEDGED, LIMIT, has_dlq=False)
    assert transition is not None
    transition.complete(committed=False, now=now)
    assert (state.state, state.member_id, state.lock_deadline) == after
    assert state.transition is None


@pytest.mark.parametrize("committed", [True, False])
def test_record_archived_during_a_write_stays_archived(committed: bool) -> None:
    state = InFlightState(0, 9, ACQUIRED, 1, "m", 100)
    transition = state.start_transition(AVAILABLE, LIMIT, has_dlq=False)
    assert transition is not None
    state.archive()
    transition.complete(committed=committed, now=50)
    assert (state.state, state.member_id, state.is_done) == (ARCHIVED, "", True)


def test_a_state_that_is_split_during_a_write_is_completed_in_both_parts() -> None:
    batch = InFlightBatch((InFlightState(0, 9, ACQUIRED, 1, "m", 100),))
    transition = batch.whole.start_transition(AVAILABLE, LIMIT, has_dlq=False)
    assert transition is not None
    for state in batch.between(0, 3):
        state.archive()
    transition.complete(committed=False, now=50)
    shown = [(state.first_offset, state.last_offset, state.state) for state in batch.states]
    assert shown == [(0, 3, ARCHIVED), (4, 9, ACQUIRED)]


def test_a_batch_is_split_at_exactly_the_given_offsets() -> None:
    batch = InFlightBatch((InFlightState(10, 19, ACQUIRED, 2, "m", 100),))
    assert [(each.first_offset, each.last_offset) for each in batch.between(12, 14)] == [(12, 14)]
    assert [(state.first_offset, state.last_offset) for state in batch.states] == [(10, 11), (12, 14), (15, 19)]
    assert {(state.state, state.delivery_count, state.member_id, state.lock_deadline) for state in batch.states} == {
        (ACQUIRED, 2, "m", 100)
    }
    assert batch.between(0, 99) == batch.states
    found = batch.state_at(14)
    assert found is batch.states[1]
    assert batch.state_at(9) is None
    assert batch.state_at(20) is None
    assert batch.is_split
