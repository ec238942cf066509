"""The records of `__transaction_state`, byte by byte."""

from __future__ import annotations

import struct

import pytest

from kafkadouble.messages.coordinator import decode_key, decode_value
from kafkadouble.messages.generated.transaction_log_record import TransactionLogKey, TransactionLogValue
from kafkadouble.server.transactions.transaction_log import metadata_of, tombstone, transaction_record
from kafkadouble.server.transactions.transaction_metadata import TransactionMetadata
from kafkadouble.server.transactions.transaction_state import EMPTY, ONGOING, TransactionState
from kafkadouble.wire.errors import InvalidRecord
from tests.server.transactions.sample import (
    EPOCH,
    NEXT,
    NOW,
    PREVIOUS,
    PRODUCER,
    STARTED,
    STORED_STATES,
    TIMEOUT,
    UPDATED,
    metadata_in,
)

HEAD = struct.Struct(">hqhib")
"""Version, producer id, producer epoch, time-out, state."""

TIMES = struct.pack(">qq", UPDATED, STARTED)


def value_bytes(metadata: TransactionMetadata, version: int) -> bytes:
    value = transaction_record("t", metadata, version).encoded(0, NOW).value
    assert value is not None
    return value


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def test_the_key() -> None:
    record = transaction_record("my-id", metadata_in(EMPTY), 2).encoded(5, NOW)
    assert record.key == struct.pack(">h", 0) + text("my-id")
    assert (record.offset, record.timestamp) == (5, NOW)


def test_a_tombstone() -> None:
    record = tombstone("my-id").encoded(5, NOW)
    assert record.key == struct.pack(">h", 0) + text("my-id")
    assert record.value is None


def test_version_0_groups_the_partitions_by_topic() -> None:
    open_ = metadata_in(ONGOING, client_transaction_version=0)
    orders = text("orders") + struct.pack(">iii", 2, 0, 3)
    payments = text("payments") + struct.pack(">ii", 1, 1)
    assert value_bytes(open_, 0) == (
        HEAD.pack(0, PRODUCER, EPOCH, TIMEOUT, 1) + struct.pack(">i", 2) + orders + payments + TIMES
    )


def test_version_0_has_no_producer_ids_but_the_current_one() -> None:
    full = metadata_in(ONGOING, previous_producer_id=PREVIOUS, next_producer_id=NEXT, client_transaction_version=2)
    bare = metadata_in(ONGOING, previous_producer_id=-1, client_transaction_version=0)
    assert value_bytes(full, 0) == value_bytes(bare, 0)


@pytest.mark.parametrize("version", [1, 2])
def test_version_1_has_tagged_fields(version: int) -> None:
    full = metadata_in(ONGOING, previous_producer_id=PREVIOUS, next_producer_id=NEXT)
    orders = b"\x07orders\x03" + struct.pack(">ii", 0, 3) + b"\0"
    payments = b"\x09payments\x02" + struct.pack(">i", 1) + b"\0"
    previous, following = b"\0\x08" + struct.pack(">q", PREVIOUS), b"\x01\x08" + struct.pack(">q", NEXT)
    assert value_bytes(full, version) == (
        HEAD.pack(1, PRODUCER, EPOCH, TIMEOUT, 1)
        + (b"\x03" + orders + payments + TIMES)
        + (b"\x03" + previous + following + b"\x02\x02\0\x02")
    )


def test_version_1_omits_fields_with_their_defaults() -> None:
    bare = metadata_in(ONGOING, topic_partitions=frozenset(), previous_producer_id=-1, client_transaction_version=0)
    assert value_bytes(bare, 1) == HEAD.pack(1, PRODUCER, EPOCH, TIMEOUT, 1) + b"\x01" + TIMES + b"\0"


@pytest.mark.parametrize(("version", "null"), [(0, struct.pack(">i", -1)), (1, b"\0")])
def test_an_empty_id_has_null_for_its_partitions(version: int, null: bytes) -> None:
    empty = metadata_in(EMPTY, previous_producer_id=-1, client_transaction_version=0)
    head = HEAD.pack(version, PRODUCER, EPOCH, TIMEOUT, 0)
    assert value_bytes(empty, version) == head + null + struct.pack(">qq", UPDATED, -1) + b"\0" * version


@pytest.mark.parametrize("epoch", [-1, 0, 32765, 32766, 32767])
@pytest.mark.parametrize("state", STORED_STATES)
@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_state_comes_back_from_its_record(state: TransactionState, epoch: int, version: int) -> None:
    """Except for the last epoch, and in version 0 for what KIP-890 added."""
    written = metadata_in(
        state,
        producer_epoch=epoch,
        last_producer_epoch=6,
        previous_producer_id=PREVIOUS,
        next_producer_id=NEXT,
    )
    record = transaction_record("t", written, version).encoded(0, NOW)
    assert record.key is not None
    assert record.value is not None
    key = decode_key(record.key, "transaction_coordinator")
    value, _ = decode_value(record.value, key)
    assert isinstance(key, TransactionLogKey)
    assert isinstance(value, TransactionLogValue)
    expected = written._replace(last_producer_epoch=-1)
    if version == 0:
        expected = expected._replace(previous_producer_id=-1, next_producer_id=-1, client_transaction_version=0)
    assert key.transactional_id == "t"
    assert metadata_of(value) == expected


def test_an_empty_id_has_no_partitions_whatever_the_record_says() -> None:
    partitions = [TransactionLogValue.PartitionsSchema(topic="orders", partition_ids=[1])]
    value = TransactionLogValue(transaction_status=0, transaction_partitions=partitions)
    assert metadata_of(value).topic_partitions == frozenset()


def test_an_open_transaction_without_partitions() -> None:
    assert metadata_of(TransactionLogValue(transaction_status=1)).topic_partitions == frozenset()


@pytest.mark.parametrize("status", [-128, -1, 8, 127])
def test_an_unknown_state_is_an_invalid_record(status: int) -> None:
    with pytest.raises(InvalidRecord, match=f"in state {status}$"):
        metadata_of(TransactionLogValue(transaction_status=status))
