"""The two readers of records, and the scan: they must agree on every byte, and read unusual records
as Java does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.wire import record_body, record_scan
from kafkadouble.wire.batch import Record, encode_batch, is_one_plain, read_header, scan_records
from kafkadouble.wire.errors import InvalidRecord
from kafkadouble.wire.record_body import decode_fast
from kafkadouble.wire.record_careful import BatchContext, decode_carefully, wrap64
from kafkadouble.wire.record_scan import scan_carefully, scan_fast
from kafkadouble.wire.record_write import encode_body
from tests.wire.strategies import damaged, records


def outcome(read: object, *arguments: object) -> object:
    assert callable(read)
    try:
        return read(*arguments)
    except InvalidRecord:
        return InvalidRecord


def decoded(body: bytes, count: int, context: BatchContext) -> list[Record]:
    """The records of the fast reader, or of the careful one if the fast one gives up."""
    try:
        return decode_fast(body, count, context.base_offset, context.base_timestamp, context.append_time)
    except (IndexError, record_body.Odd):
        return decode_carefully(body, count, context)


def sums(body: bytes, count: int, context: BatchContext) -> object:
    """The result of a scan without the body: of the fast scan, or of the careful one if the fast
    one gives up."""
    try:
        return scan_fast(body, count, context.base_offset, context.base_timestamp)[:-1]
    except (IndexError, record_body.Odd):
        return scan_carefully(body, count, context)[:-1]


def summary(records: list[Record], base: int) -> tuple[bool, int, int, int, int]:
    """The expected result of a scan, computed from the records and not from the bytes."""
    stamps = [record.timestamp for record in records]
    keyless = [index for index, record in enumerate(records) if record.key is None]
    consecutive = [record.offset for record in records] == [wrap64(base + index) for index in range(len(records))]
    return consecutive, (keyless or [-1])[0], min(stamps), max(stamps), records[stamps.index(max(stamps))].offset


@given(records(), st.data())
def test_all_readers_agree_on_damaged_records(made: tuple[int, list[Record]], data: st.DataObject) -> None:
    base, originals = made
    body = encode_body(originals, base)
    bad = data.draw(damaged(body.data))
    count = max(1, body.record_count + data.draw(st.sampled_from([0, 0, 0, 1, -1])))
    context = BatchContext(base, body.base_timestamp)
    careful = outcome(decode_carefully, bad, count, context)
    assert outcome(decoded, bad, count, context) == careful
    expected = summary(careful, base) if isinstance(careful, list) else InvalidRecord
    assert outcome(sums, bad, count, context) == expected


@given(records())
def test_the_scan_sums_up_what_the_records_are(made: tuple[int, list[Record]]) -> None:
    base, originals = made
    data = encode_batch(originals, base_offset=base, compression=4)
    scan = scan_records(data, 0, read_header(data))
    assert scan[:-1] == summary(originals, base)
    assert scan.body == encode_body(originals, base).data


@given(st.binary(max_size=20) | st.none(), st.binary(max_size=300) | st.none(), st.data())
def test_plain_record_is_accepted_by_the_scan(key: bytes | None, value: bytes | None, data: st.DataObject) -> None:
    original = Record(0, 5, key, value, ())
    body = encode_body([original], 0).data
    assert is_one_plain(body, 0, len(body))
    bad = data.draw(damaged(body))
    if is_one_plain(bad, 0, len(bad)):
        scan = scan_fast(bad, 1, 0, 5)
        assert (scan.consecutive, scan.min_timestamp, scan.max_timestamp) == (True, 5, 5)


@pytest.mark.parametrize(
    "record", [Record(0, 5, None, b"x", (("h", b""),)), Record(1, 5, b"", b"x", ()), Record(0, 5, b"", b"x" * 8192, ())]
)
def test_any_other_record_is_left_to_the_scan(record: Record) -> None:
    body = encode_body([record], 0).data
    assert not is_one_plain(body, 0, len(body))


def test_ordinary_records_never_need_the_careful_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_scan, "decode_carefully", None)
    headers = (("h", b"x" * 100), ("é" * 100, None), ("", b""))
    spans = [0, 63, 64, 8191, 8192, 1_048_575, 1_048_576, 134_217_727]
    made = [
        Record(
            span + 3,
            1_700_000_000_000 + sign * span * 1_000_000,
            None if span == 63 else bytes(min(span, 70_000)),
            b"v",
            headers,
        )
        for sign, span in zip((1, -1) * 4, spans, strict=True)
    ]
    body = encode_body(made, 3)
    context = BatchContext(3, body.base_timestamp)
    assert decode_fast(body.data, len(made), 3, body.base_timestamp, None) == made
    assert sums(body.data, len(made), context) == summary(made, 3)
    stamped = decode_fast(body.data, len(made), 3, body.base_timestamp, 7)
    assert [record.timestamp for record in stamped] == [7] * len(made)


def read_one(text: str, context: BatchContext | None = None) -> Record:
    (record,) = decoded(bytes.fromhex(text), 1, context or BatchContext())
    return record


def test_a_record_byte_by_byte() -> None:
    # Length, attributes, timestamp delta, offset delta, key, value, header count, header name, null
    # header value.
    record = read_one("16 00 02 04 026b 0276 02 0268 01", BatchContext(100, 1000))
    assert record == Record(102, 1001, b"k", b"v", (("h", None),))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0c 00 00 00 03 05 00", Record(0, 0, None, None)),  # any negative length is null
        ("0c ff 00 00 01 01 00", Record(0, 0, None, None)),  # attributes are not used yet
        ("14 00 00 8080808000 01 01 00", Record(0, 0, None, None)),  # an overlong varint
        ("14 00 00 feffffff1f 01 01 00", Record(2147483647, 0, None, None)),  # drops bits over 32
        ("1e 00 80808080808080808000 00 01 01 00", Record(0, 0, None, None)),
        ("1e 00 ffffffffffffffffff01 00 01 01 00", Record(0, -(1 << 63), None, None)),
    ],
)
def test_oddities_are_read_as_java_reads_them(text: str, expected: Record) -> None:
    assert read_one(text) == expected


def test_record_offsets_and_timestamps_wrap_around_at_64_bits() -> None:
    context = BatchContext((1 << 63) - 1, (1 << 63) - 1)
    assert read_one("0c 00 02 02 01 01 00", context) == Record(-(1 << 63), -(1 << 63), None, None)
    assert sums(bytes.fromhex("0c000202010100"), 1, context) == (False, 0, -(1 << 63), -(1 << 63), -(1 << 63))


@pytest.mark.parametrize(
    ("text", "problem", "offset"),
    [
        ("", "before the record length", 0),
        ("80", "before the record length", 1),
        ("808080808000", "varint of the record length does not end", 5),
        ("0e 00 00 00 01 01 00", "a record of 7 bytes, 6 are left", 1),
        ("01 00 00 00 01 01 00", "a record of -1 bytes", 1),
        ("00", "before the attributes", 1),
        ("0a 00 00 00 01 01 00", "before the header count", 6),
        ("0c 00 00 00 01 01 00 00", "1 bytes are left after 1 records", 7),
        ("0e 00 00 00 01 01 00 00", "1 bytes are left in a record of 7 bytes", 7),
        ("1e 00 8080808080808080808000 00 01 01", "varint of the timestamp delta does not end", 12),
        ("0c 00 00 00 10 01 00", "a key of 8 bytes, 2 are left", 5),
        ("0c 00 00 00 01 10 00", "a value of 8 bytes, 1 are left", 6),
        ("0c 00 00 00 01 01 01", "-1 headers", 7),
        ("0c 00 00 00 01 01 02", "1 headers in 0 bytes", 7),
        ("10 00 00 00 01 01 02 01 01", "a header name of -1 bytes", 8),
        ("10 00 00 00 01 01 02 10 01", "a header name of 8 bytes", 8),
        ("10 00 00 00 01 01 02 00 02", "a header value of 1 bytes", 9),
    ],
)
def test_damaged_record_names_the_wrong_field(text: str, problem: str, offset: int) -> None:
    with pytest.raises(InvalidRecord, match=problem) as caught:
        decoded(bytes.fromhex(text), 1, BatchContext(start=100))
    assert caught.value.offset == 100 + offset
    with pytest.raises(InvalidRecord):
        sums(bytes.fromhex(text), 1, BatchContext())


def test_a_length_of_three_bytes_is_left_to_the_scan() -> None:
    body = bytes((0x16, 0, 0, 0, 8, 0, 0, 0, 0, 0x81, 0x80, 0))
    assert not is_one_plain(body, 0, len(body))
    with pytest.raises(InvalidRecord):
        decode_carefully(body, 1, BatchContext())
