"""Transactional ids in any state, for the tests of their steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.requests.request import Refusal
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

PRODUCER, PREVIOUS, NEXT = 4000, 3000, 5000
"""Producer ids: the current one, one before it, and the one that the controller assigns next."""

EPOCH = 7
TIMEOUT = 60_000
STARTED, UPDATED, NOW = 1_000, 2_000, 10_000
PARTITIONS = frozenset({("orders", 0), ("orders", 3), ("payments", 1)})

STORED_STATES = (EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT)
"""The states that are in the log; DEAD and PREPARE_EPOCH_FENCE are only ever pending."""

WITH_PARTITIONS = (ONGOING, PREPARE_COMMIT, PREPARE_ABORT)


def metadata_in(state: TransactionState, **fields: Any) -> TransactionMetadata:
    """A plausible transactional id in this state, with these fields changed."""
    plausible = TransactionMetadata(
        PRODUCER,
        EPOCH,
        TIMEOUT,
        state,
        PARTITIONS if state in WITH_PARTITIONS else frozenset(),
        -1 if state is EMPTY else STARTED,
        UPDATED,
        PRODUCER,
        client_transaction_version=2,
    )
    return plausible._replace(**fields)


def entry_in(
    state: TransactionState, *, pending: TransactionState | None = None, **fields: Any
) -> TransactionalIdEntry:
    """The same in the coordinator's memory."""
    entry = TransactionalIdEntry("t", metadata_in(state, **fields))
    entry.pending_state = pending
    return entry


def assigns(producer_id: int) -> Callable[[], int]:
    return lambda: producer_id


def assigns_none() -> int:
    """The source of producer ids, for steps that must not take one."""
    raise AssertionError("the step takes a producer id")


def has_none_yet() -> int:
    """The source of producer ids, while the broker has no block of them."""
    raise Refusal(error_codes.COORDINATOR_LOAD_IN_PROGRESS)


def code_of(step: Callable[[], object]) -> int:
    with pytest.raises(Refusal) as refused:
        step()
    return refused.value.code
