"""EndTxn: what a commit or an abort does in each state (KIP-98, KIP-890).

Two tables, one for each protocol. In transactions version 1 the epoch stays, and a repeated request
is answered by the state alone. In version 2 each end raises the epoch, so a request with the epoch
before is a repeated one, and one with the current epoch is new: also an abort where nothing was
written, which raises the epoch of a producer that is in doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafkadouble.messages import error_codes

from ..log.producers import LAST_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ..requests.request import Refusal
from .transaction_metadata import (
    TransactionalIdEntry,
    TransactionMetadata,
    prepare_abort_or_commit,
)
from .transaction_state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    PREPARED,
)

COMMIT, ABORT = True, False
"""The result that a request wants, as `committed` in EndTxn."""

EPOCH_BUMP_FROM = 2
"""The transactions version with a new epoch for each transaction."""

BEGIN = -2
"""The transition begins: write PREPARE_COMMIT or PREPARE_ABORT. Not an error code."""

DONE, AGAIN, WRONG = error_codes.NONE, error_codes.CONCURRENT_TRANSACTIONS, error_codes.INVALID_TXN_STATE

OUTCOMES_V1 = {
    ONGOING: {COMMIT: BEGIN, ABORT: BEGIN},
    PREPARE_COMMIT: {COMMIT: AGAIN, ABORT: WRONG},
    PREPARE_ABORT: {COMMIT: WRONG, ABORT: AGAIN},
    COMPLETE_COMMIT: {COMMIT: DONE, ABORT: WRONG},
    COMPLETE_ABORT: {COMMIT: WRONG, ABORT: DONE},
    EMPTY: {COMMIT: WRONG, ABORT: WRONG},
}
"""State -> result -> what happens."""

NEW, REPEATED = False, True

OUTCOMES_V2 = {
    ONGOING: {(COMMIT, NEW): BEGIN, (COMMIT, REPEATED): BEGIN, (ABORT, NEW): BEGIN, (ABORT, REPEATED): BEGIN},
    PREPARE_COMMIT: {(COMMIT, NEW): AGAIN, (COMMIT, REPEATED): AGAIN, (ABORT, NEW): WRONG, (ABORT, REPEATED): WRONG},
    PREPARE_ABORT: {(COMMIT, NEW): WRONG, (COMMIT, REPEATED): WRONG, (ABORT, NEW): AGAIN, (ABORT, REPEATED): AGAIN},
    COMPLETE_COMMIT: {(COMMIT, NEW): WRONG, (COMMIT, REPEATED): DONE, (ABORT, NEW): BEGIN, (ABORT, REPEATED): WRONG},
    COMPLETE_ABORT: {(COMMIT, NEW): WRONG, (COMMIT, REPEATED): WRONG, (ABORT, NEW): BEGIN, (ABORT, REPEATED): DONE},
    EMPTY: {(COMMIT, NEW): WRONG, (COMMIT, REPEATED): WRONG, (ABORT, NEW): BEGIN, (ABORT, REPEATED): BEGIN},
}
"""State -> result, and whether the request is a repeated one -> what happens."""


class EndOfTransaction(NamedTuple):
    """A commit or an abort. `fences` is set for the coordinator's own abort, of a transaction that
    took too long or whose producer has a successor. It names the epoch that it fences with."""

    producer_id: int
    producer_epoch: int
    committed: bool
    client_version: int
    fences: bool = False


def end_transaction(
    entry: TransactionalIdEntry, end: EndOfTransaction, next_producer_id: Callable[[], int], now: int
) -> TransactionMetadata | None:
    """The state to write, PREPARE_COMMIT or PREPARE_ABORT; None if the transaction has ended so
    already. Raises Refusal."""
    bumps = end.client_version >= EPOCH_BUMP_FROM
    outcome = _outcome_v2(entry, end) if bumps else _outcome_v1(entry, end)
    if outcome == DONE:
        return None
    if outcome != BEGIN:
        raise Refusal(outcome)
    metadata = entry.metadata
    if end.fences and not bumps:
        # As in Kafka, the epoch is raised at once, and stays raised if the record is not written.
        raised = metadata._replace(producer_epoch=end.producer_epoch, last_producer_epoch=NO_PRODUCER_EPOCH)
        metadata = entry.metadata = raised
    rotates = bumps and metadata.has_exhausted_epochs
    return prepare_abort_or_commit(
        metadata,
        PREPARE_COMMIT if end.committed else PREPARE_ABORT,
        end.client_version if bumps else 0,
        next_producer_id() if rotates else NO_PRODUCER_ID,
        now,
        no_partition_added=metadata.state is not ONGOING,
    )


def _outcome_v1(entry: TransactionalIdEntry, end: EndOfTransaction) -> int:
    metadata = entry.metadata
    if metadata.producer_id != end.producer_id:
        raise Refusal(error_codes.INVALID_PRODUCER_ID_MAPPING)
    if not _is_epoch_v1(metadata, end):
        raise Refusal(error_codes.PRODUCER_FENCED)
    if entry.pending_state is not None:
        raise Refusal(error_codes.CONCURRENT_TRANSACTIONS)
    return OUTCOMES_V1[metadata.state][end.committed]


def _is_epoch_v1(metadata: TransactionMetadata, end: EndOfTransaction) -> bool:
    """Whether the epoch is right: a client's is the current one, and the coordinator's own may be
    larger."""
    if end.fences:
        return end.producer_epoch >= metadata.producer_epoch
    return end.producer_epoch == metadata.producer_epoch


def _outcome_v2(entry: TransactionalIdEntry, end: EndOfTransaction) -> int:
    metadata = entry.metadata
    if entry.pending_state is not None:
        raise Refusal(error_codes.CONCURRENT_TRANSACTIONS)
    bumped = not end.fences and metadata.producer_epoch == end.producer_epoch + 1
    # The request may name the last epoch of the producer id before this one.
    rotated = not end.fences and (
        metadata.previous_producer_id == end.producer_id
        and end.producer_epoch == LAST_EPOCH - 1
        and metadata.producer_epoch == 0
    )
    if metadata.producer_id != end.producer_id and not rotated:
        raise Refusal(error_codes.INVALID_PRODUCER_ID_MAPPING)
    if not _is_epoch_v2(metadata, end, bumped, rotated):
        raise Refusal(error_codes.PRODUCER_FENCED)
    return OUTCOMES_V2[metadata.state][end.committed, bumped or rotated]


def _is_epoch_v2(metadata: TransactionMetadata, end: EndOfTransaction, bumped: bool, rotated: bool) -> bool:
    if end.fences:
        return end.producer_epoch >= metadata.producer_epoch
    is_current = end.producer_epoch == metadata.producer_epoch
    if metadata.state in PREPARED:
        return bumped
    if metadata.state in (COMPLETE_COMMIT, COMPLETE_ABORT):
        return bumped or rotated or is_current
    return is_current
