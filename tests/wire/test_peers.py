"""Our readers read what kafka-python and aiokafka write, and the other way round, with every
codec."""

from typing import Any

import pytest

from kafkadouble.wire.batch import Record, decode_records, encode_batch, read_header, scan_records
from kafkadouble.wire.compression import CODECS

aiokafka = pytest.importorskip("aiokafka.record.default_records")
kafka_python = pytest.importorskip("kafka.record.default_records")
PEERS = {"aiokafka": aiokafka, "kafka-python": kafka_python}
ALL = [(peer, codec) for peer in PEERS for codec in CODECS]


def sample(count: int = 300) -> list[Record]:
    """Records of all kinds, except null header values, which kafka-python does not write."""
    return [
        Record(
            index,
            1_700_000_000_000 + index * 37 % 1000,
            None if index % 5 == 0 else b"key-%d" % index,
            None
            if index % 7 == 0
            else b""
            if index % 7 == 1
            else b"the value of number %d " % index * (1 + index % 40),
            (("name", b"value"), ("naïve", b"")) if index % 3 == 0 else (),
        )
        for index in range(count)
    ]


def as_record(found: Any) -> Record:
    headers = tuple((name, None if value is None else bytes(value)) for name, value in found.headers)
    key, value = (None if part is None else bytes(part) for part in (found.key, found.value))
    return Record(found.offset, found.timestamp, key, value, headers)


def build(peer: str, codec: int, records: list[Record]) -> bytes:
    builder = PEERS[peer].DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, 1 << 24)
    for record in records:
        assert (
            builder.append(record.offset, record.timestamp, record.key, record.value, list(record.headers)) is not None
        )
    return bytes(builder.build())


@pytest.mark.parametrize(("peer", "codec"), ALL)
def test_batches_of_other_clients_are_decoded(peer: str, codec: int) -> None:
    data = build(peer, codec, sample())
    header = read_header(data)
    assert (header.compression, header.count, header.size) == (codec, 300, len(data))
    assert decode_records(data) == sample()
    scan = scan_records(data, 0, header)
    assert (scan.consecutive, scan.first_keyless, scan.max_timestamp) == (True, 0, header.max_timestamp)


@pytest.mark.parametrize(("peer", "codec"), ALL)
def test_client_libraries_read_our_batches(peer: str, codec: int) -> None:
    batch = PEERS[peer].DefaultRecordBatch(bytes(encode_batch(sample(), compression=codec)))
    assert batch.validate_crc()
    assert [as_record(record) for record in batch] == sample()


@pytest.mark.parametrize("peer", PEERS)
def test_uncompressed_batches_are_the_same_bytes(peer: str) -> None:
    theirs = bytearray(build(peer, 0, sample()))
    # kafka-python writes 0 for the leader epoch, which the broker overwrites.
    theirs[12:16] = b"\xff" * 4
    assert theirs == encode_batch(sample())


def test_null_header_values_and_broker_time() -> None:
    made = [Record(5, 1, b"k", b"v", (("n", None), ("e", b"")))]
    data = bytes(encode_batch(made, base_offset=5, timestamp_type=1, max_timestamp=77, compression=2))
    for module in PEERS.values():
        (found,) = list(module.DefaultRecordBatch(data))
        assert as_record(found) == Record(5, 77, b"k", b"v", made[0].headers)
