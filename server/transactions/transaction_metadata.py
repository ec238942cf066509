"""The coordinator's state of one transactional id, and its transitions (KIP-98, KIP-360, KIP-890).

`TransactionMetadata` is a value: one record of `__transaction_state`. Each `prepare_*` function
returns the next value and changes nothing. `TransactionalIdEntry` holds the current value and the
state that is being written: until that record is committed, other requests for the same id get
CONCURRENT_TRANSACTIONS.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkadouble.messages import error_codes

from ..log.producers import LAST_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ..requests.request import Refusal
from .transaction_state import (
    BETWEEN_TRANSACTIONS,
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    DEAD,
    EMPTY,
    ONGOING,
    PREPARE_COMMIT,
    PREPARE_EPOCH_FENCE,
    VALID_PREVIOUS_STATES,
    TransactionState,
)

NO_TIMESTAMP = -1
TopicPartition = tuple[str, int]


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Topic -> the indexes of its partitions, in the given order."""
    found: dict[str, list[int]] = {}
    for topic, index in partitions:
        found.setdefault(topic, []).append(index)
    return found


class TransactionMetadata(NamedTuple):
    """The persistent state of a transactional id. Timestamps and the time-out are in ms; -1 means
    "none".

    `previous_producer_id` and `next_producer_id` are of KIP-890: epochs of an id run out, and the
    id changes at the end of a transaction. `last_producer_epoch` lets a producer repeat an
    InitProducerId whose answer was lost (KIP-360); it is not in the log.
    """

    producer_id: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    txn_timeout_ms: int = 0
    state: TransactionState = EMPTY
    topic_partitions: frozenset[TopicPartition] = frozenset()
    txn_start_timestamp: int = NO_TIMESTAMP
    txn_last_update_timestamp: int = NO_TIMESTAMP
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    last_producer_epoch: int = NO_PRODUCER_EPOCH
    client_transaction_version: int = 0

    @property
    def has_exhausted_epochs(self) -> bool:
        """Whether the producer id has no further epoch for a producer."""
        return is_exhausted(self.producer_epoch)


def is_exhausted(producer_epoch: int) -> bool:
    """Whether this is the last epoch that a producer may have."""
    return producer_epoch >= LAST_EPOCH - 1


class TransactionalIdEntry:
    """One transactional id in the coordinator's memory.

    `pending_state` is the state that is being written, None if there is none. `fence_failed` says
    that a fence was not written, though its epoch was raised in memory (transactions version 1).
    """

    __slots__ = ("fence_failed", "metadata", "pending_state", "transactional_id")

    def __init__(self, transactional_id: str, metadata: TransactionMetadata) -> None:
        self.transactional_id, self.metadata = transactional_id, metadata
        self.pending_state: TransactionState | None = None
        self.fence_failed = False

    def begin(self, following: TransactionMetadata) -> TransactionMetadata:
        """Marks the transition to `following` as pending, and returns it."""
        state = following.state
        if self.pending_state is not None or self.metadata.state not in VALID_PREVIOUS_STATES[state]:
            raise RuntimeError(f"{self!r} cannot become {state.label}")
        self.pending_state = state
        return following

    def complete(self, following: TransactionMetadata) -> None:
        """The record of the pending transition is committed."""
        self.metadata, self.pending_state = following, None

    def marked(self, partitions: Iterable[TopicPartition]) -> None:
        """These partitions have their transaction markers, or need none any more."""
        left = self.metadata.topic_partitions.difference(partitions)
        self.metadata = self.metadata._replace(topic_partitions=left)

    def __repr__(self) -> str:
        pending = f", {self.pending_state.label} pending" if self.pending_state is not None else ""
        return f"transactional id {self.transactional_id!r} in {self.metadata.state.label}{pending}"


def prepare_increment_producer_epoch(
    metadata: TransactionMetadata, timeout_ms: int, expected_epoch: int | None, now: int
) -> TransactionMetadata:
    """The next epoch for a producer that begins. A repeated request, which names the previous
    epoch, gets the current one again (KIP-360). Refusal(PRODUCER_FENCED) for any other one, and
    Refusal(UNKNOWN_SERVER_ERROR) if there is no next epoch: Kafka throws, whatever is expected."""
    if metadata.has_exhausted_epochs:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    current, epoch, last = metadata.producer_epoch, metadata.producer_epoch + 1, NO_PRODUCER_EPOCH
    if expected_epoch is not None:
        if current == NO_PRODUCER_EPOCH or expected_epoch == current:
            last = current
        elif expected_epoch == metadata.last_producer_epoch:
            epoch, last = current, metadata.last_producer_epoch
        else:
            raise Refusal(error_codes.PRODUCER_FENCED)
    return _empty(metadata, metadata.producer_id, epoch, last, timeout_ms, now)


def prepare_producer_id_rotation(
    metadata: TransactionMetadata, producer_id: int, timeout_ms: int, now: int, *, keep_last_epoch: bool
) -> TransactionMetadata:
    """A new producer id, because the old one has no further epoch."""
    last = metadata.producer_epoch if keep_last_epoch else NO_PRODUCER_EPOCH
    return _empty(metadata, producer_id, 0, last, timeout_ms, now)


def _empty(
    metadata: TransactionMetadata, producer_id: int, epoch: int, last_epoch: int, timeout_ms: int, now: int
) -> TransactionMetadata:
    return metadata._replace(
        state=EMPTY,
        producer_id=producer_id,
        previous_producer_id=metadata.producer_id,
        producer_epoch=epoch,
        last_producer_epoch=last_epoch,
        txn_timeout_ms=timeout_ms,
        topic_partitions=frozenset(),
        txn_start_timestamp=NO_TIMESTAMP,
        txn_last_update_timestamp=now,
    )


def prepare_fence_producer_epoch(entry: TransactionalIdEntry) -> TransactionMetadata:
    """An epoch that no producer is given: it fences the producer of the open transaction. A fence
    that failed to be written has raised the epoch already."""
    metadata = entry.metadata
    bumped = 0 if entry.fence_failed or metadata.producer_epoch == LAST_EPOCH else 1
    return metadata._replace(
        state=PREPARE_EPOCH_FENCE,
        previous_producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch + bumped,
    )


def prepare_add_partitions(
    metadata: TransactionMetadata, partitions: Iterable[TopicPartition], now: int, client_version: int
) -> TransactionMetadata:
    """The open transaction with further partitions; the first of them begin it."""
    begins = metadata.state in BETWEEN_TRANSACTIONS
    return metadata._replace(
        state=ONGOING,
        previous_producer_id=metadata.producer_id,
        topic_partitions=metadata.topic_partitions.union(partitions),
        txn_start_timestamp=now if begins else metadata.txn_start_timestamp,
        txn_last_update_timestamp=now,
        client_transaction_version=client_version,
    )


def prepare_abort_or_commit(
    metadata: TransactionMetadata,
    state: TransactionState,
    client_version: int,
    next_producer_id: int,
    now: int,
    *,
    no_partition_added: bool = False,
) -> TransactionMetadata:
    """The decided outcome, PREPARE_COMMIT or PREPARE_ABORT. With transactions version 2 the markers
    have the next epoch, and the producer goes on with it. A commit needs a next epoch: without one
    Kafka throws, here Refusal(UNKNOWN_SERVER_ERROR)."""
    epoch, last = metadata.producer_epoch, metadata.last_producer_epoch
    if client_version >= 2:
        if epoch == LAST_EPOCH and state is PREPARE_COMMIT:
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
        epoch, last = min(epoch + 1, LAST_EPOCH), epoch
    return metadata._replace(
        state=state,
        previous_producer_id=metadata.producer_id,
        next_producer_id=next_producer_id,
        producer_epoch=epoch,
        last_producer_epoch=last,
        txn_start_timestamp=now if no_partition_added else metadata.txn_start_timestamp,
        txn_last_update_timestamp=now,
        client_transaction_version=client_version,
    )


def prepare_complete(metadata: TransactionMetadata, now: int) -> TransactionMetadata:
    """The end of a transaction: every partition has its marker. The producer goes on with the next
    producer id, if one was chosen."""
    rotates = metadata.client_transaction_version >= 2 and metadata.next_producer_id != NO_PRODUCER_ID
    return metadata._replace(
        state=COMPLETE_COMMIT if metadata.state is PREPARE_COMMIT else COMPLETE_ABORT,
        producer_id=metadata.next_producer_id if rotates else metadata.producer_id,
        previous_producer_id=metadata.producer_id,
        next_producer_id=NO_PRODUCER_ID,
        producer_epoch=0 if rotates else metadata.producer_epoch,
        topic_partitions=frozenset(),
        txn_last_update_timestamp=now,
    )


def prepare_dead(metadata: TransactionMetadata) -> TransactionMetadata:
    """The id has expired. A tombstone removes it from the log."""
    return metadata._replace(state=DEAD, previous_producer_id=metadata.producer_id, topic_partitions=frozenset())
