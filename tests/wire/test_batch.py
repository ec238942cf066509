"""Whole batches: records are encoded to bytes, and decoded to records again."""

import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.wire import batch_write
from kafkadouble.wire.batch import (
    Record,
    check_crc,
    decode_all,
    decode_records,
    encode_batch,
    read_header,
    scan_records,
    seal,
    set_append_time,
    set_max_timestamp,
    set_producer,
    stamp,
    wrap_body,
)
from kafkadouble.wire.compression import CODECS
from kafkadouble.wire.errors import (
    BadCompression,
    CorruptBatch,
    InvalidRecord,
    TooLarge,
    Truncated,
    UsageError,
    WireError,
)
from tests.wire.strategies import damaged, records

ONE = [Record(0, 1000, b"key", b"value", (("h", b"x"), ("h", None), ("", b"")))]


@given(records(), st.sampled_from(list(CODECS)), st.sampled_from([bytes, bytearray, memoryview]))
def test_round_trip(made: tuple[int, list[Record]], codec: int, kind: type) -> None:
    base, originals = made
    data = encode_batch(originals, base_offset=base, compression=codec)
    header = read_header(data)
    assert (header.size, header.count, header.compression) == (len(data), len(originals), codec)
    assert (header.base_offset, header.last_offset) == (base, originals[-1].offset)
    assert header.base_timestamp == originals[0].timestamp
    assert header.max_timestamp == max(record.timestamp for record in originals)
    assert decode_records(kind(b"before" + data + b"after"), 6) == originals


@given(records(), st.sampled_from(list(CODECS)), st.data())
def test_damage_raises_only_wire_errors(made: tuple[int, list[Record]], codec: int, data: st.DataObject) -> None:
    base, originals = made
    bad = data.draw(damaged(bytes(encode_batch(originals, base_offset=base, compression=codec))))
    for checked in (True, False):
        with suppress(WireError):
            decode_all(bad, check_crc=checked, limit=1 << 20)
    with suppress(WireError):
        scan_records(bad, 0, read_header(bad), 1 << 20)


@given(st.binary(max_size=300))
def test_any_bytes_raise_only_wire_errors(data: bytes) -> None:
    with suppress(WireError):
        decode_all(data, check_crc=False)


def test_null_and_empty_keys_stay_distinct() -> None:
    pairs = [(None, None), (None, b""), (b"", None), (b"", b"")]
    made = [Record(index, 0, key, value, (("n", None), ("e", b""))) for index, (key, value) in enumerate(pairs)]
    assert decode_records(encode_batch(made)) == made


def test_keys_and_values_come_out_as_bytes() -> None:
    data = encode_batch([Record(0, 0, memoryview(b"key"), bytearray(b"value"))])  # any buffer
    (record,) = decode_records(memoryview(data))
    assert (type(record.key), record.key, type(record.value), record.value) == (bytes, b"key", bytes, b"value")


@pytest.mark.parametrize("name", ["plain", "", "snö", "\udcff\udc80"])
def test_header_names_survive_whatever_their_bytes(name: str) -> None:
    made = [Record(0, 0, None, None, ((name, b"v"),))]
    assert decode_records(encode_batch(made)) == made


@pytest.mark.parametrize("codec", CODECS)
def test_append_time_changes_two_fields_and_the_checksum(codec: int) -> None:
    made = [Record(index, 1000 + index, None, b"v" * 100) for index in range(10)]
    data = encode_batch(made, compression=codec)
    before = bytes(data)
    set_append_time(data, 5555)
    changed = [position for position in range(len(data)) if data[position] != before[position]]
    assert all(17 <= position < 23 or 35 <= position < 43 for position in changed)
    assert [record.timestamp for record in decode_records(data)] == [5555] * 10
    header = read_header(data)
    assert (header.timestamp_type, header.max_timestamp, header.base_timestamp) == (1, 5555, 1000)
    assert bytes(data) == encode_batch(made, compression=codec, timestamp_type=1, max_timestamp=5555)


def test_a_producer_can_be_written_into_a_finished_batch() -> None:
    data = encode_batch(ONE, compression=1)
    set_producer(data, 1 << 40, 7, 1 << 30)
    assert bytes(data) == encode_batch(ONE, compression=1, producer_id=1 << 40, producer_epoch=7, base_sequence=1 << 30)


def test_an_unchanged_timestamp_costs_no_checksum(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode_batch(ONE)
    before = bytes(data)
    monkeypatch.setattr(batch_write, "crc32c", None)
    set_max_timestamp(data, 0, 1000)
    assert data == before


def test_stamping_leaves_the_checksum_right() -> None:
    data = bytearray(b"pad") + encode_batch(ONE)
    stamp(data, 123_456_789_012, 42, position=3)
    header = read_header(data, 3)
    assert (header.base_offset, header.partition_leader_epoch) == (123_456_789_012, 42)
    check_crc(data, 3, header)
    assert decode_records(data, 3)[0].offset == 123_456_789_012


def test_a_batch_may_be_sealed_later() -> None:
    data = encode_batch(ONE, seal=False)
    assert read_header(data).crc == 0
    with pytest.raises(CorruptBatch):
        decode_records(data)
    assert decode_records(data, check_crc=False) == ONE
    seal(data)
    assert data == encode_batch(ONE)
    view = memoryview(bytearray(b"xx") + encode_batch(ONE, seal=False))
    seal(view, 2)
    assert view[2:] == data


def test_batch_is_compressed_again_with_the_same_header() -> None:
    made = [Record(index + 3, 1000 + index, b"k", b"v" * 50) for index in range(20)]
    data = encode_batch(made, base_offset=3, compression=1, producer_id=9, producer_epoch=1, base_sequence=0)
    header = read_header(data)
    scan = scan_records(data, 0, header)
    header.attributes = header.attributes & ~7 | 4
    assert wrap_body(header, scan.body) == encode_batch(
        made, base_offset=3, compression=4, producer_id=9, producer_epoch=1, base_sequence=0
    )


def test_batch_after_compaction_is_read() -> None:
    empty = encode_batch([], base_offset=10, last_offset=14, producer_id=5, max_timestamp=99, compression=1)
    header = read_header(empty)
    assert (header.base_offset, header.last_offset, header.count, header.max_timestamp) == (10, 14, 0, 99)
    assert (header.base_timestamp, header.compression) == (-1, 0)
    assert decode_records(empty) == []
    assert scan_records(empty, 0, header) == (True, -1, -1, -1, -1, b"")
    kept = [Record(12, 1000, b"k", None)]
    data = encode_batch(kept, base_offset=10, last_offset=14, delete_horizon=86_400_000)
    header = read_header(data)
    assert (header.last_offset, header.has_delete_horizon, header.base_timestamp) == (14, True, 86_400_000)
    assert decode_records(data) == kept


def test_many_batches_of_which_the_last_is_cut() -> None:
    data = encode_batch(ONE) + encode_batch([Record(5, 1, None, b"x")], base_offset=5, compression=2)
    assert [record.offset for record in decode_all(data)] == [0, 5]
    assert decode_all(data + data[:70], partial=True) == decode_all(data)
    with pytest.raises(Truncated):
        decode_all(data + data[:70])


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_bomb_inside_a_batch(codec: int) -> None:
    data = encode_batch([Record(0, 0, None, bytes(8 << 20))], compression=codec)
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            decode_records(data, limit=1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert len(decode_records(data)[0].value or b"") == 8 << 20


def with_header(**fields: int) -> bytes:
    data = encode_batch(ONE)
    header = read_header(data)
    body = bytes(data[61:])
    for name, value in fields.items():
        setattr(header, name, value)
    return bytes(wrap_body(header, body))


@pytest.mark.parametrize("count", [2, 0x7FFFFFFF, -1, -(1 << 31)])
def test_counts_that_the_bytes_do_not_hold(count: int) -> None:
    with pytest.raises(InvalidRecord) as caught:
        decode_records(with_header(count=count))
    assert caught.value.path.startswith("records")
    data = with_header(count=count)
    with pytest.raises(InvalidRecord):
        scan_records(data, 0, read_header(data))


def test_records_that_the_count_leaves_out() -> None:
    data = bytearray(encode_batch([*ONE, Record(1, 0, None, None)]))
    data[57:61] = (1).to_bytes(4, "big")
    with pytest.raises(InvalidRecord, match="left after 1 records"):
        decode_records(data, check_crc=False)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_codecs_that_do_not_exist(codec: int) -> None:
    data = bytearray(encode_batch(ONE))
    data[22] = codec
    seal(data)
    with pytest.raises(BadCompression):
        decode_records(data)


def test_invalid_record_error_has_its_offset() -> None:
    plain = bytearray(b"skip") + encode_batch(ONE)
    plain[4 + 61 + 4] = 0x7E  # the length of the key
    with pytest.raises(InvalidRecord) as caught:
        decode_records(plain, 4, check_crc=False)
    assert str(caught.value) == "a key of 63 bytes, 19 are left at byte 70 in records[0]"
    header = read_header(plain, 4)
    header.attributes = 1
    packed = wrap_body(header, bytes(plain[65:]))
    with pytest.raises(InvalidRecord) as caught:
        decode_records(packed)
    assert str(caught.value) == "a key of 63 bytes, 19 are left at byte 5 in decompressed records[0]"


@pytest.mark.parametrize(
    ("wrong", "fields"),
    [
        ([Record(1, 0, None, None), Record(1, 0, None, None)], {}),
        ([Record(4, 0, None, None)], {"base_offset": 5}),
        ([Record(1 << 31, 0, None, None)], {}),
        ([Record(0, 1 << 63, None, None)], {}),
        ([Record(0, 0, None, None), Record(1, -(1 << 63) - 1, None, None)], {}),
        ([], {}),
        ([Record(3, 0, None, None)], {"last_offset": 2}),
        ([Record(0, 0, None, None)], {"producer_epoch": 1 << 15}),
        ([Record(0, 0, None, None)], {"compression": 6}),
        ([Record(0, 0, "text", None)], {}),
        ([Record(0, 0, None, 5)], {}),
        ([Record(0, 0, None, None, (("\ud800", None),))], {}),
        ([Record(0, 0, None, None, ((b"bytes", None),))], {}),
        ([b"not a record"], {}),
    ],
)
def test_record_field_out_of_range_is_a_caller_error(wrong: list[Record], fields: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        encode_batch(wrong, **fields)
