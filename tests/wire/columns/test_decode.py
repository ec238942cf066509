"""Columns hold what the plain reader returns, with every implementation, and however the rows are
split."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkadouble.wire import columns
from kafkadouble.wire.batch import Record, encode_batch
from kafkadouble.wire.errors import UsageError
from tests.wire.columns.reading import BASIC, EVERY, ORIGIN, a_log, by_columns, plainly, rows_of
from tests.wire.legacy_messages import message
from tests.wire.strategies import records

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
KAFKA_WROTE = [*sorted((GOLDEN / "batches").glob("*.bin")), *sorted((GOLDEN / "cluster_metadata-0").glob("*.log"))]


@pytest.mark.parametrize("implementation", EVERY)
@settings(max_examples=25)
@given(st.lists(st.tuples(records(), st.integers(0, 4), st.booleans()), min_size=1, max_size=4))
def test_any_records_in_any_codec(implementation: str, made: list[tuple[tuple[int, list[Record]], int, bool]]) -> None:
    buffer = b"".join(
        encode_batch(some, base_offset=base, compression=codec, timestamp_type=stamped)
        for (base, some), codec, stamped in made
    )
    assert by_columns(buffer, implementation) == plainly(buffer)


@pytest.mark.parametrize("implementation", EVERY)
@pytest.mark.parametrize("seed", range(3))
def test_a_log_of_everything(implementation: str, seed: int) -> None:
    buffer = a_log(seed, batches=300)
    whole = plainly(buffer)
    assert whole[1] is None
    assert by_columns(buffer, implementation) == whole
    assert by_columns(buffer, implementation, rows=7) == whole


@pytest.mark.parametrize("implementation", EVERY)
@pytest.mark.parametrize("path", KAFKA_WROTE, ids=lambda path: path.stem)
def test_batches_of_kafka_are_decoded_into_columns(implementation: str, path: Path) -> None:
    buffer = path.read_bytes()
    rows, problem, _ = by_columns(buffer, implementation)
    assert (rows, problem) == (plainly(buffer)[0], None)
    assert rows


@pytest.mark.parametrize("implementation", EVERY)
def test_the_columns_of_a_batch(implementation: str) -> None:
    before = encode_batch([Record(0, 5, b"k", b"v")])
    batch = encode_batch(
        [Record(7, 1000, None, b"a"), Record(9, 1001, b"", None)],
        base_offset=7,
        compression=4,
        producer_id=4711,
        producer_epoch=2,
        base_sequence=(1 << 31) - 1,
        partition_leader_epoch=6,
        is_transactional=True,
    )
    buffer = bytes(before + batch)
    headers = columns.walk(buffer)[1:]
    origin = columns.Origin("orders", 3, "0.log", "node-1", 1000)
    (read,) = columns.decode(buffer, headers, columns.NAMES, origin, implementation=implementation)
    read.validate(full=True)
    assert read.schema == columns.schema()
    columns_read = read.drop_columns(["timestamp"]).to_pydict()
    assert columns_read == {
        "key": [None, b""],
        "value": [b"a", None],
        "topic": ["orders"] * 2,
        "partition": [3] * 2,
        "offset": [7, 9],
        "timestampType": [0, 0],
        "headers": [None, None],
        "leader_epoch": [6] * 2,
        "base_offset": [7] * 2,
        "batch_position": [1000 + len(before)] * 2,
        "segment": ["0.log"] * 2,
        "codec": ["zstd"] * 2,
        "transactional": [True] * 2,
        "control": [False] * 2,
        "producer_id": [4711] * 2,
        "producer_epoch": [2] * 2,
        "sequence": [(1 << 31) - 1, 1],
        "crc_ok": [True] * 2,
        "replica": ["node-1"] * 2,
    }


def test_only_the_requested_columns() -> None:
    buffer = bytes(encode_batch([Record(at, 5, b"k", b"v") for at in range(3)]))
    headers = columns.walk(buffer)
    (some,) = columns.decode(buffer, headers, ("value", "offset"), ORIGIN)
    assert some.to_pydict() == {"value": [b"v"] * 3, "offset": [0, 1, 2]}
    (none,) = columns.decode(buffer, headers, (), ORIGIN)
    assert (none.num_columns, none.num_rows) == (0, 3)
    assert list(columns.decode(b"", columns.walk(b""), BASIC, ORIGIN)) == []


def test_a_checksum_that_was_not_requested_is_unknown() -> None:
    buffer = bytes(encode_batch([Record(0, 5, b"k", b"v")]))
    (read,) = columns.decode(buffer, columns.walk(buffer), ("crc_ok",), ORIGIN, check_crc=False)
    assert read.to_pydict() == {"crc_ok": [None]}


def test_magic_0_has_no_timestamp_type() -> None:
    buffer = message(5, b"v", magic=0) + message(6, b"w", magic=1)
    (read,) = columns.decode(buffer, columns.walk(buffer), ("offset", "timestampType", "sequence"), ORIGIN)
    assert read.to_pydict() == {"offset": [5, 6], "timestampType": [-1, 0], "sequence": [None, None]}


@pytest.mark.parametrize("implementation", EVERY)
def test_header_names_that_are_not_text_are_replaced(implementation: str) -> None:
    name = b"\xffh".decode("utf-8", "surrogateescape")
    buffer = bytes(encode_batch([Record(0, 5, None, None, ((name, b"x"),))]))
    ((row,), _, _) = by_columns(buffer, implementation)
    assert row[-1] == [("\ufffdh", b"x")]


@pytest.mark.parametrize("implementation", EVERY)
def test_many_headers(implementation: str) -> None:
    many = tuple((f"h{at}", b"x" * at) for at in range(100))
    buffer = bytes(encode_batch([Record(at, 5, None, b"v", many if at % 2 else ()) for at in range(100)]))
    assert by_columns(buffer, implementation) == plainly(buffer)
    one = bytes(encode_batch([Record(0, 5, None, b"v", many)]))
    assert by_columns(one, implementation) == plainly(one)


def test_rows_come_in_batches_of_the_requested_size() -> None:
    buffer = b"".join(
        encode_batch([Record(at * 10 + i, 5, b"k", b"v") for i in range(10)], base_offset=at * 10) for at in range(10)
    )
    sizes = [batch.num_rows for batch in columns.decode(buffer, columns.walk(buffer), ("offset",), ORIGIN, rows=30)]
    assert sizes == [30, 30, 30, 10]


def test_large_batch_becomes_several_arrow_batches() -> None:
    buffer = bytes(encode_batch([Record(at, 5, None, bytes(10_000)) for at in range(4200)], compression=4))
    assert len(buffer) < 1 << 20
    sizes = [batch.nbytes for batch in columns.decode(buffer, columns.walk(buffer), ("value",), ORIGIN)]
    assert len(sizes) == 3
    assert max(sizes) < 17 << 20


def test_headers_in_any_order() -> None:
    buffer = b"".join(encode_batch([Record(at, 5, b"k", b"v")], base_offset=at) for at in range(5))
    batches = columns.decode(buffer, columns.walk(buffer)[::-1], ("offset",), ORIGIN)
    assert pa.Table.from_batches(batches)["offset"].to_pylist() == [4, 3, 2, 1, 0]


def test_a_view_and_an_array_serve_as_well_as_bytes() -> None:
    data = bytes(encode_batch([Record(0, 5, b"k", b"v")]))
    for buffer in (data, bytearray(data), memoryview(b"12" + data)[2:]):
        (read,) = columns.decode(buffer, columns.walk(buffer), BASIC, ORIGIN)
        assert rows_of(read) == [(b"k", b"v", 0, 5, None)]


def test_a_subset_of_the_batches() -> None:
    buffer = a_log(5, batches=60)
    headers = columns.walk(buffer)
    even = np.arange(len(headers)) % 2 == 0
    read = pa.Table.from_batches(columns.decode(buffer, headers[even], ("offset", "batch_position"), ORIGIN))
    assert set(read["batch_position"].to_pylist()) <= set(headers.position[even].tolist())
    everything = pa.Table.from_batches(
        columns.decode(buffer, headers, ("offset", "batch_position"), ORIGIN)
    ).to_pylist()
    positions = set(headers.position[even].tolist())
    assert read.to_pylist() == [row for row in everything if row["batch_position"] in positions]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"names": ("offset", "Value")}, "no column 'Value'"),
        ({"on_corrupt": "ignore"}, "fail, skip and report, not 'ignore'"),
        ({"rows": 0}, "batches of 0 rows"),
    ],
)
def test_impossible_requests(options: dict[str, object], sentence: str) -> None:
    requested: dict[str, object] = {"names": BASIC, **options}
    with pytest.raises(UsageError, match=sentence):
        columns.decode(b"", columns.walk(b""), origin=ORIGIN, **requested)  # type: ignore[arg-type]  # wrong on purpose
