"""The states of a transactional id, and which state may follow which (KIP-98, KIP-890).

    Empty ──► Ongoing ──► PrepareCommit ──► CompleteCommit
                  │  ├──► PrepareAbort  ──► CompleteAbort
                  │  └──► PrepareEpochFence ──► PrepareAbort

A completed transaction is followed by the next one (Ongoing), by a new producer epoch (Empty), or
by its expiration (Dead). With transactions version 2 an abort is also legal where nothing was
written; it raises the producer epoch. Dead and PrepareEpochFence exist in memory only, never in
the log.
"""

from __future__ import annotations

from enum import Enum


class TransactionState(Enum):
    """The value is the number in a record of `__transaction_state`."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """Kafka's name, as in DescribeTransactions: "CompleteCommit"."""
        return LABELS[self]


EMPTY, ONGOING = TransactionState.EMPTY, TransactionState.ONGOING
PREPARE_COMMIT, PREPARE_ABORT = TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT
COMPLETE_COMMIT, COMPLETE_ABORT = TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT
DEAD, PREPARE_EPOCH_FENCE = TransactionState.DEAD, TransactionState.PREPARE_EPOCH_FENCE

LABELS = {state: state.name.title().replace("_", "") for state in TransactionState}

BY_LABEL = {label: state for state, label in LABELS.items()}
"""Kafka's name -> state, for the filters of ListTransactions."""

BETWEEN_TRANSACTIONS = frozenset({EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT})
"""The states in which no transaction is open. Only these expire."""

PREPARED = frozenset({PREPARE_COMMIT, PREPARE_ABORT})
"""The outcome is decided, and not every partition has its marker."""

VALID_PREVIOUS_STATES = {
    EMPTY: BETWEEN_TRANSACTIONS,
    ONGOING: BETWEEN_TRANSACTIONS | {ONGOING},
    PREPARE_COMMIT: frozenset({ONGOING}),
    PREPARE_ABORT: BETWEEN_TRANSACTIONS | {ONGOING, PREPARE_EPOCH_FENCE},
    COMPLETE_COMMIT: frozenset({PREPARE_COMMIT}),
    COMPLETE_ABORT: frozenset({PREPARE_ABORT}),
    DEAD: BETWEEN_TRANSACTIONS,
    PREPARE_EPOCH_FENCE: frozenset({ONGOING}),
}
"""State -> the states that it may follow, as Kafka's `TransactionState.VALID_PREVIOUS_STATES`."""
