"""Control batches: the type ids of Kafka, and keys that are not control keys."""

import pytest

from kafkadouble.wire.batch import (
    ABORT,
    COMMIT,
    CONTROL_NAMES,
    KRAFT_VERSION,
    LEADER_CHANGE,
    Record,
    control_record,
    control_type,
    decode_records,
    encode_batch,
    encode_control_batch,
    read_header,
)
from kafkadouble.wire.errors import InvalidRecord


def test_type_ids() -> None:
    assert (ABORT, COMMIT, LEADER_CHANGE, KRAFT_VERSION, CONTROL_NAMES[6]) == (0, 1, 2, 5, "KRAFT_VOTERS")


def test_an_end_of_transaction_marker_byte_by_byte() -> None:
    batch = encode_control_batch(
        COMMIT,
        bytes.fromhex("000000000007"),
        base_offset=20,
        timestamp=1000,
        producer_id=5,
        producer_epoch=2,
        is_transactional=True,
    )
    header = read_header(batch)
    assert (header.is_control, header.is_transactional, header.count, header.base_sequence) == (True, True, 1, -1)
    assert (header.producer_id, header.producer_epoch, header.max_timestamp) == (5, 2, 1000)
    # Length 16; no deltas; key: version 0, type 1; value: version 0, coordinator epoch 7; no
    # headers.
    assert batch[61:].hex() == "20" + "000000" + "0800000001" + "0c000000000007" + "00"
    (record,) = decode_records(batch)
    assert (control_type(record), record.value) == ((0, COMMIT), bytes.fromhex("000000000007"))


def test_several_in_one_batch() -> None:
    made = [control_record(3, 9, LEADER_CHANGE, b"a"), control_record(4, 9, KRAFT_VERSION, b"b", version=1)]
    records = decode_records(encode_batch(made, base_offset=3, is_control=True))
    assert [control_type(record) for record in records] == [(0, LEADER_CHANGE), (1, KRAFT_VERSION)]


def test_unknown_types_and_later_versions_are_read() -> None:
    assert control_type(Record(0, 0, b"\x00\x09\x7f\xff and more", b"")) == (9, 32767)


@pytest.mark.parametrize("key", [None, b"", b"\x00\x00\x00", b"\xff\xff\x00\x01"])
def test_keys_that_are_no_control_keys(key: bytes | None) -> None:
    with pytest.raises(InvalidRecord):
        control_type(Record(0, 0, key, b""))
