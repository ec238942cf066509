"""InitProducerId: which producer id and epoch a transactional producer gets (KIP-98, KIP-360).

A producer that names its id and epoch continues; any other one fences the producers before it. An
open transaction is aborted first, with an epoch that no producer is given, and the client repeats
its request: it gets CONCURRENT_TRANSACTIONS until the abort is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafkadouble.messages import error_codes

from ..log.producers import NO_PRODUCER_EPOCH
from ..requests.request import Refusal
from .transaction_metadata import (
    TransactionalIdEntry,
    TransactionMetadata,
    is_exhausted,
    prepare_increment_producer_epoch,
    prepare_producer_id_rotation,
)
from .transaction_state import ONGOING, PREPARED


class ProducerIdAndEpoch(NamedTuple):
    """A producer, as it names itself."""

    producer_id: int
    epoch: int


def init_producer_id(
    entry: TransactionalIdEntry,
    expected: ProducerIdAndEpoch | None,
    timeout_ms: int,
    next_producer_id: Callable[[], int],
    now: int,
) -> TransactionMetadata | None:
    """The next state of the transactional id; None if the open transaction must be aborted first.

    Raises Refusal: CONCURRENT_TRANSACTIONS, PRODUCER_FENCED, UNKNOWN_SERVER_ERROR as
    `prepare_increment_producer_epoch`, or what `next_producer_id` raises.
    """
    metadata = entry.metadata
    if entry.pending_state is not None:
        raise Refusal(error_codes.CONCURRENT_TRANSACTIONS)
    if expected is not None and not _is_known(metadata, expected):
        raise Refusal(error_codes.PRODUCER_FENCED)
    if metadata.state in PREPARED:
        raise Refusal(error_codes.CONCURRENT_TRANSACTIONS)
    if metadata.state is ONGOING:
        return None
    if metadata.has_exhausted_epochs and (expected is None or expected.epoch == metadata.producer_epoch):
        keep = expected is not None
        return prepare_producer_id_rotation(metadata, next_producer_id(), timeout_ms, now, keep_last_epoch=keep)
    return prepare_increment_producer_epoch(metadata, timeout_ms, expected.epoch if expected else None, now)


def _is_known(metadata: TransactionMetadata, expected: ProducerIdAndEpoch) -> bool:
    """Whether the id belongs to the transactional id: its current one; the previous one, if its
    epochs ran out and the answer that said so was lost; or any, if the coordinator has just created
    the entry."""
    return (
        metadata.producer_epoch == NO_PRODUCER_EPOCH
        or expected.producer_id == metadata.producer_id
        or (expected.producer_id == metadata.previous_producer_id and is_exhausted(expected.epoch))
    )
