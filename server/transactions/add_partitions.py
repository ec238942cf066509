"""AddPartitionsToTxn: adds partitions to the open transaction, or verifies that they are in it
(KIP-98, KIP-890).

The first partitions begin the transaction. Up to transactions version 1 the client adds them, and
the leader of each partition verifies it before the first append. With version 2 the leader adds its
partition itself.
"""

from __future__ import annotations

from collections.abc import Collection

from kafkadouble.messages import error_codes

from ..log.producers import NO_PRODUCER_EPOCH
from ..requests.request import Refusal
from .init_producer_id import ProducerIdAndEpoch
from .transaction_metadata import (
    TopicPartition,
    TransactionalIdEntry,
    TransactionMetadata,
    prepare_add_partitions,
)
from .transaction_state import ONGOING, PREPARED


def add_partitions(
    entry: TransactionalIdEntry,
    producer: ProducerIdAndEpoch,
    partitions: Collection[TopicPartition],
    client_version: int,
    now: int,
) -> TransactionMetadata | None:
    """The state to write; None if the transaction has all of the partitions. Raises Refusal."""
    metadata = entry.metadata
    if entry.pending_state is not None:
        raise Refusal(error_codes.CONCURRENT_TRANSACTIONS)
    _check_producer(metadata, producer)
    if metadata.state in PREPARED:
        raise Refusal(error_codes.CONCURRENT_TRANSACTIONS)
    if metadata.state is ONGOING and metadata.topic_partitions.issuperset(partitions):
        return None
    if metadata.producer_epoch == NO_PRODUCER_EPOCH:
        # The first InitProducerId was not written, so no producer has this id. Kafka throws.
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    return prepare_add_partitions(metadata, partitions, now, client_version)


def verify_partitions(
    entry: TransactionalIdEntry, producer: ProducerIdAndEpoch, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, int]:
    """Partition -> 0, or TRANSACTION_ABORTABLE if it is not in the transaction. Raises Refusal.

    A pending transition does not matter, because the log checks the append once more.
    """
    metadata = entry.metadata
    _check_producer(metadata, producer)
    if metadata.state in PREPARED:
        raise Refusal(error_codes.CONCURRENT_TRANSACTIONS)
    present = metadata.topic_partitions
    return {each: error_codes.NONE if each in present else error_codes.TRANSACTION_ABORTABLE for each in partitions}


def _check_producer(metadata: TransactionMetadata, producer: ProducerIdAndEpoch) -> None:
    if metadata.producer_id != producer.producer_id:
        raise Refusal(error_codes.INVALID_PRODUCER_ID_MAPPING)
    if metadata.producer_epoch != producer.epoch:
        raise Refusal(error_codes.PRODUCER_FENCED)
