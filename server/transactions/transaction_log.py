"""The records of `__transaction_state`: one for each change of a transactional id (KIP-98).

The value has version 0, or from transactions version 1 on version 1, which can hold tagged fields:
the previous and the next producer id (KIP-890).
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkadouble.messages.generated.transaction_log_record import TransactionLogKey, TransactionLogValue
from kafkadouble.wire.errors import InvalidRecord

from ..coordinator.coordinator_record import CoordinatorRecord
from .transaction_metadata import TopicPartition, TransactionMetadata, by_topic
from .transaction_state import EMPTY, TransactionState

Partitions = TransactionLogValue.PartitionsSchema

NEWEST_VERSION = 2
"""The highest transactions version."""

FLEXIBLE_FROM = 1
"""The transactions version from which on the value has tagged fields, and their version."""

# Loading decodes very many records: a lookup is faster than a call of the enumeration, and most
# transactional ids have no partitions.
_STATES = {state.value: state for state in TransactionState}
_NONE: frozenset[TopicPartition] = frozenset()


def transaction_record(transactional_id: str, metadata: TransactionMetadata, version: int) -> CoordinatorRecord:
    """The record of a state; `version` is the cluster's transactions version.

    Version 0 of the value has no field for the client's version. Kafka fails to write a state with
    one, so that after a downgrade the id stays pending; here the record omits it.
    """
    is_flexible = version >= FLEXIBLE_FROM
    value = TransactionLogValue(
        producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch,
        transaction_timeout_ms=metadata.txn_timeout_ms,
        transaction_status=metadata.state.value,
        transaction_partitions=None if metadata.state is EMPTY else _grouped(metadata.topic_partitions),
        transaction_last_update_timestamp_ms=metadata.txn_last_update_timestamp,
        transaction_start_timestamp_ms=metadata.txn_start_timestamp,
    )
    if is_flexible:
        value.client_transaction_version = metadata.client_transaction_version
        value.previous_producer_id = metadata.previous_producer_id
        value.next_producer_id = metadata.next_producer_id
    key = TransactionLogKey(transactional_id=transactional_id)
    return CoordinatorRecord(key, value, FLEXIBLE_FROM if is_flexible else 0)


def tombstone(transactional_id: str) -> CoordinatorRecord:
    """The record that removes a transactional id."""
    return CoordinatorRecord(TransactionLogKey(transactional_id=transactional_id), None)


def metadata_of(value: TransactionLogValue) -> TransactionMetadata:
    """The state in a record. Raises InvalidRecord for a state or a client's version that Kafka does
    not have, and for null instead of partitions, which only Empty has."""
    state = _STATES.get(value.transaction_status)
    if state is None:
        raise InvalidRecord(f"a transactional id in state {value.transaction_status}")
    if not 0 <= value.client_transaction_version <= NEWEST_VERSION:
        raise InvalidRecord(f"a client of transactions version {value.client_transaction_version}")
    partitions = () if state is EMPTY else value.transaction_partitions
    if partitions is None:
        raise InvalidRecord(f"a transactional id in state {state.label} without partitions")
    return TransactionMetadata(
        value.producer_id,
        value.producer_epoch,
        value.transaction_timeout_ms,
        state,
        frozenset((each.topic, index) for each in partitions for index in each.partition_ids) if partitions else _NONE,
        value.transaction_start_timestamp_ms,
        value.transaction_last_update_timestamp_ms,
        value.previous_producer_id,
        value.next_producer_id,
        client_transaction_version=value.client_transaction_version,
    )


def _grouped(partitions: Iterable[TopicPartition]) -> list[Partitions]:
    return [Partitions(topic=topic, partition_ids=indexes) for topic, indexes in by_topic(sorted(partitions)).items()]
