"""The states of a transactional id: names, numbers, and which may follow which."""

from __future__ import annotations

import pytest

from kafkadouble.server.transactions.transaction_state import (
    BETWEEN_TRANSACTIONS,
    BY_LABEL,
    PREPARED,
    VALID_PREVIOUS_STATES,
    TransactionState,
)

STATES = {
    0: "Empty",
    1: "Ongoing",
    2: "PrepareCommit",
    3: "PrepareAbort",
    4: "CompleteCommit",
    5: "CompleteAbort",
    6: "Dead",
    7: "PrepareEpochFence",
}

FOLLOWED_BY = {
    "Empty": {"Empty", "Ongoing", "PrepareAbort", "Dead"},
    "Ongoing": {"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"},
    "PrepareCommit": {"CompleteCommit"},
    "PrepareAbort": {"CompleteAbort"},
    "CompleteCommit": {"Empty", "Ongoing", "PrepareAbort", "Dead"},
    "CompleteAbort": {"Empty", "Ongoing", "PrepareAbort", "Dead"},
    "Dead": set(),
    "PrepareEpochFence": {"PrepareAbort"},
}
"""State -> the states that may follow it."""


def test_numbers_and_names_are_kafkas() -> None:
    assert {state.value: state.label for state in TransactionState} == STATES
    assert {label: state.value for label, state in BY_LABEL.items()} == {name: id for id, name in STATES.items()}


@pytest.mark.parametrize("state", FOLLOWED_BY)
def test_a_state_is_followed_by(state: str) -> None:
    follow = {each.label for each, previous in VALID_PREVIOUS_STATES.items() if BY_LABEL[state] in previous}
    assert follow == FOLLOWED_BY[state]


def test_every_state_has_a_row() -> None:
    assert set(VALID_PREVIOUS_STATES) == set(TransactionState)
    assert set(FOLLOWED_BY) == set(STATES.values())


def test_the_groups_of_states() -> None:
    assert {state.label for state in BETWEEN_TRANSACTIONS} == {"Empty", "CompleteCommit", "CompleteAbort"}
    assert {state.label for state in PREPARED} == {"PrepareCommit", "PrepareAbort"}
