"""`wire.batch` and the grammar read and write the same bytes."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkadouble.wire.batch import Record, decode_records, encode_batch, iter_batches, read_header
from tests.wire.strategies import records
from tests.witness.batch_grammar import BATCH, COVERED, crc32c_bit_by_bit

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
SAME_NAME = (
    "attributes",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
)


def wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def check(data: bytes) -> None:
    """The grammar finds in one batch what `wire` finds."""
    outer, header = BATCH.parse(data), read_header(data)
    inner = COVERED.parse(outer.rest.covered)
    assert (outer.base_offset, outer.rest.magic, outer.rest.crc) == (header.base_offset, header.magic, header.crc)
    assert outer.rest.partition_leader_epoch == header.partition_leader_epoch
    assert crc32c_bit_by_bit(outer.rest.covered) == header.crc
    assert [inner[name] for name in SAME_NAME] == [getattr(header, name) for name in SAME_NAME]
    assert len(inner.records) == header.count
    assert [as_record(outer, inner, record) for record in inner.records] == decode_records(data)


def as_record(outer: Any, inner: Any, record: Any) -> Record:
    stamped = inner.attributes & 8
    timestamp = inner.max_timestamp if stamped else wrapped(inner.base_timestamp + record.timestamp_delta)
    headers = tuple((header.name.decode("utf-8", "surrogateescape"), header.value) for header in record.headers)
    return Record(outer.base_offset + record.offset_delta, timestamp, record.key, record.value, headers)


@settings(max_examples=40)
@given(
    records(),
    st.integers(-1, 2**63 - 1),
    st.integers(-1, 2**15 - 1),
    st.integers(-1, 2**31 - 1),
    st.sampled_from([0, 1]),
    st.booleans(),
    st.booleans(),
)
def test_grammar_reads_encoded_batches(
    made: tuple[int, list[Record]],
    producer: int,
    epoch: int,
    sequence: int,
    timestamp_type: int,
    transactional: bool,
    control: bool,
) -> None:
    base, originals = made
    data = encode_batch(
        originals,
        base_offset=base,
        timestamp_type=timestamp_type,
        producer_id=producer,
        producer_epoch=epoch,
        base_sequence=sequence,
        partition_leader_epoch=epoch,
        is_transactional=transactional,
        is_control=control,
    )
    check(bytes(data))
    header = read_header(data)
    assert (header.is_transactional, header.is_control, header.timestamp_type) == (
        transactional,
        control,
        timestamp_type,
    )


@settings(max_examples=40)
@given(records())
def test_grammar_writes_the_same_bytes_as_the_encoder(made: tuple[int, list[Record]]) -> None:
    base, originals = made
    first = originals[0].timestamp
    covered = COVERED.build(
        {
            "attributes": 0,
            "last_offset_delta": originals[-1].offset - base,
            "base_timestamp": first,
            "max_timestamp": max(record.timestamp for record in originals),
            "producer_id": -1,
            "producer_epoch": -1,
            "base_sequence": -1,
            "records": [
                {
                    "attributes": 0,
                    "timestamp_delta": wrapped(record.timestamp - first),
                    "offset_delta": record.offset - base,
                    "key": record.key,
                    "value": record.value,
                    "headers": [
                        {"name": name.encode("utf-8", "surrogateescape"), "value": value}
                        for name, value in record.headers
                    ],
                }
                for record in originals
            ],
        }
    )
    rest = {"partition_leader_epoch": -1, "magic": 2, "crc": crc32c_bit_by_bit(covered), "covered": covered}
    assert encode_batch(originals, base_offset=base) == BATCH.build({"base_offset": base, "rest": rest})


@pytest.mark.parametrize(
    "name", ["batches/magic2-none.bin", "cluster_metadata-0/00000000000000000034-0000000001.checkpoint"]
)
def test_the_grammar_reads_what_kafka_wrote(name: str) -> None:
    data = (GOLDEN / name).read_bytes()
    for position, header in iter_batches(data):
        check(data[position : position + header.size])
