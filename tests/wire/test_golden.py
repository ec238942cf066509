"""Bytes that Apache Kafka wrote: its 4.4 Java classes in every format and codec, and the log of a
4.3 node."""

from pathlib import Path

import pytest

from kafkadouble.wire.batch import (
    BatchHeader,
    Record,
    control_type,
    decode_all,
    encode_batch,
    iter_batches,
    records_of,
    scan_records,
)
from kafkadouble.wire.compression import CODECS

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
WRITTEN = sorted((GOLDEN / "batches").glob("*.bin"))
SEGMENT = "00000000000000000000.log"
SNAPSHOT = "00000000000000000034-0000000001.checkpoint"
NODE = [GOLDEN / "cluster_metadata-0" / name for name in (SEGMENT, SNAPSHOT)]
HEADERS = (("h", None), ("h", b"x"))


def expected(magic: int) -> list[Record]:
    """The records that `Write.java` appended: four with their own timestamps, then the same four
    with the broker's."""
    pairs = [(None, b"value number 0 of many"), (b"k1", b"value number 1 of many"), (b"k2", None), (None, b"")]
    made = []
    for base, stamped in ((1000, False), (11000, True)):
        for index, (key, value) in enumerate(pairs):
            timestamp = -1 if magic == 0 else 7777 if stamped else 5000 + 1000 * index
            made.append(Record(base + index, timestamp, key, value, HEADERS if magic == 2 and index % 2 else ()))
    return made


def test_golden_batches_cover_every_format() -> None:
    assert len(WRITTEN) == 13


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_golden_batches_of_java_are_read(path: Path) -> None:
    magic, codec = int(path.stem[5]), path.stem[7:]
    data = path.read_bytes()
    assert decode_all(data) == expected(magic)
    headers = [header for _, header in iter_batches(data)]
    assert {header.magic for header in headers} == {magic}
    assert {CODECS[header.compression].name for header in headers} == {codec}
    if magic == 2:
        assert [(header.base_offset, header.count, header.timestamp_type) for header in headers] == [
            (1000, 4, 0),
            (11000, 4, 1),
        ]
    else:
        assert len(headers) == (8 if codec == "none" else 2)


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_golden_batches_of_java_are_written_byte_for_byte(codec: str) -> None:
    """The output of the other codecs depends on the compression library."""
    data = (GOLDEN / "batches" / f"magic2-{codec}.bin").read_bytes()
    assert b"".join(rewritten(data, position, header) for position, header in iter_batches(data)) == data


def rewritten(data: bytes, position: int, header: BatchHeader) -> bytes:
    """The batch, encoded again from its decoded records. Records with the broker's timestamp have
    lost their own: the header's base timestamp restores them."""
    records = records_of(data, position, header)
    if header.timestamp_type:
        for index, record in enumerate(records):
            record.timestamp = header.base_timestamp + 1000 * index
    return bytes(
        encode_batch(
            records,
            base_offset=header.base_offset,
            compression=header.compression,
            timestamp_type=header.timestamp_type,
            max_timestamp=header.max_timestamp,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            base_sequence=header.base_sequence,
            partition_leader_epoch=header.partition_leader_epoch,
            is_transactional=header.is_transactional,
            is_control=header.is_control,
        )
    )


@pytest.mark.parametrize("path", NODE, ids=["segment", "snapshot"])
def test_a_nodes_own_log_is_read_and_written_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    next_offset = 0
    for position, header in iter_batches(data):
        assert header.base_offset == next_offset
        next_offset = header.next_offset
        assert rewritten(data, position, header) == data[position : position + header.size]
        scan = scan_records(data, position, header)
        assert scan.consecutive
        assert scan.max_timestamp == header.max_timestamp
    assert [record.offset for record in decode_all(data)] == list(range(next_offset))


def test_the_control_records_of_a_node() -> None:
    segment, snapshot = (path.read_bytes() for path in NODE)
    assert controls(segment) == [[2, 5, 6]]
    assert controls(snapshot) == [[3, 5, 6], [4]]


def controls(data: bytes) -> list[list[int]]:
    found = [records_of(data, position, header) for position, header in iter_batches(data) if header.is_control]
    return [[control_type(record)[1] for record in records] for records in found]
