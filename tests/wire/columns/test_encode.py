"""Encodes columns as batches. The plain reader must read the same rows, with the requested header
fields. Rows that cannot be encoded raise UsageError."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkadouble.wire import columns
from kafkadouble.wire.batch import Record, check_crc, decode_all, iter_batches
from kafkadouble.wire.errors import UsageError
from tests.wire.columns.reading import BASIC, ORIGIN, a_log, plainly, rows_of

HEADERS = columns.schema(("headers",)).field(0).type
NULLABLE = st.none() | st.binary(max_size=300)
TIMES = st.none() | st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(1_700_000_000_000, 1_700_000_100_000)
ROWS = st.lists(
    st.tuples(NULLABLE, NULLABLE, TIMES, st.none() | st.lists(st.tuples(st.text(max_size=9), NULLABLE), max_size=3)),
    max_size=40,
)


def arrow(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    keys, values, stamps, headers = zip(*rows, strict=True) if rows else ((), (), (), ())
    pairs = [None if some is None else [{"key": name, "value": value} for name, value in some] for some in headers]
    arrays = [pa.array(keys, pa.binary()), pa.array(values, pa.binary()), pa.array(stamps, pa.int64())]
    return pa.record_batch([*arrays, pa.array(pairs, HEADERS)], ["key", "value", "timestamp", "headers"])


@settings(max_examples=60)
@given(ROWS, st.integers(0, 4), st.integers(100, 5000))
def test_encoded_rows_decode_to_the_same_records(rows: list[tuple[Any, ...]], codec: int, max_bytes: int) -> None:
    made = columns.encode(arrow(rows), codec=codec, now=77, base_offset=1 << 40, max_bytes=max_bytes)
    expected = [
        Record((1 << 40) + at, 77 if stamp is None else stamp, key, value, tuple(headers or ()))
        for at, (key, value, stamp, headers) in enumerate(rows)
    ]
    assert decode_all(b"".join(made)) == expected
    if codec == 0:
        assert all(len(batch) <= max_bytes or header.count == 1 for batch in made for _, header in iter_batches(batch))


def test_encode_sets_producer_id_epoch_and_sequence_in_each_batch() -> None:
    rows = arrow([(None, bytes(100), 1000 + at, None) for at in range(100)])
    made = columns.encode(
        rows, now=0, base_offset=50, producer_id=4711, producer_epoch=3, base_sequence=(1 << 31) - 30, leader_epoch=8,
        max_bytes=3000,
    )  # fmt: skip
    headers = [header for _, header in iter_batches(b"".join(made))]
    assert len(headers) > 3
    offset, sequence = 50, (1 << 31) - 30
    for header in headers:
        assert (header.base_offset, header.base_sequence) == (offset, sequence % (1 << 31))
        assert (header.producer_id, header.producer_epoch, header.partition_leader_epoch) == (4711, 3, 8)
        assert (header.base_timestamp, header.max_timestamp) == (950 + offset, 950 + offset + header.count - 1)
        assert header.last_offset == offset + header.count - 1
        offset, sequence = offset + header.count, sequence + header.count
    assert offset == 150
    for position, header in iter_batches(b"".join(made)):
        check_crc(b"".join(made), position, header)


def test_columns_survive_an_encode_decode_round_trip() -> None:
    buffer = a_log(11, batches=40)
    table = pa.Table.from_batches(columns.decode(buffer, columns.walk(buffer), BASIC, ORIGIN))
    (whole,) = table.combine_chunks().to_batches()
    again = b"".join(columns.encode(whole, now=0))
    (read,) = columns.decode(again, columns.walk(again), BASIC, ORIGIN)
    assert [row[:2] + row[3:] for row in rows_of(read)] == [row[:2] + row[3:] for row in plainly(buffer)[0]]


@pytest.mark.parametrize(
    "kind",
    [pa.binary(), pa.large_binary(), pa.string(), pa.large_string(), pa.binary_view(), pa.string_view(), pa.binary(3)],
    ids=str,
)
def test_encode_accepts_each_arrow_type_of_bytes_and_text(kind: pa.DataType) -> None:
    values = pa.array(["abc", None, "xyz"]).cast(pa.binary()).cast(kind)
    (made,) = columns.encode(pa.record_batch([values], ["value"]), now=7)
    assert [(record.key, record.value, record.timestamp) for record in decode_all(made)] == [
        (None, b"abc", 7),
        (None, None, 7),
        (None, b"xyz", 7),
    ]


@pytest.mark.parametrize(("unit", "number"), [("s", 1), ("ms", 1999), ("us", 1_999_999), ("ns", 1_999_999_999)])
def test_timestamps_of_any_unit_are_rounded_down(unit: str, number: int) -> None:
    stamps = pa.array([number, -1, None], pa.int64()).cast(pa.timestamp(unit))
    (made,) = columns.encode(pa.record_batch([pa.nulls(3), stamps], ["value", "timestamp"]), now=7)
    assert [record.timestamp for record in decode_all(made)] == [
        1000 if unit == "s" else 1999,
        -1000 if unit == "s" else -1,
        7,
    ]


def test_encode_of_a_slice_has_only_the_rows_of_the_slice() -> None:
    rows = arrow([(b"k%d" % at, b"v%d" % at, at, [("h", b"%d" % at)] * (at % 3)) for at in range(20)])
    whole = decode_all(b"".join(columns.encode(rows, now=0)))
    some = decode_all(b"".join(columns.encode(rows.slice(7, 5), now=0)))
    assert [(r.key, r.value, r.timestamp, r.headers) for r in some] == [
        (r.key, r.value, r.timestamp, r.headers) for r in whole[7:12]
    ]


def test_encode_of_an_empty_table_returns_no_batch() -> None:
    assert columns.encode(arrow([]), now=0) == []


WRONG = [
    ([pa.nulls(1)], ["key"], "no column is called 'value': key"),
    ([pa.array([1])], ["value"], "the column 'value' holds int64"),
    ([pa.nulls(1), pa.array(["noon"])], ["value", "timestamp"], "the column 'timestamp' holds string"),
    ([pa.nulls(1), pa.array([["h"]])], ["value", "headers"], "not lists of structs of key and value"),
    (
        [pa.nulls(1), pa.array([[{"key": None, "value": b""}]], HEADERS)],
        ["value", "headers"],
        "a header without a name",
    ),
]


@pytest.mark.parametrize(("arrays", "names", "sentence"), WRONG)
def test_encode_refuses_missing_or_mistyped_columns(arrays: list[pa.Array], names: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        columns.encode(pa.record_batch(arrays, names), now=0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"codec": 8}, "no compression codec has the id 8"), ({"base_offset": 1 << 63}, "cannot hold")],
)
def test_encode_refuses_unknown_codec_and_offset_overflow(options: dict[str, int], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        columns.encode(arrow([(None, b"v", 1, None)]), **{"now": 0, **options})
