"""Reads record batches in two ways, and returns the same form from both: by the plain reader, and
by columns."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from kafkadouble.wire import columns
from kafkadouble.wire.batch import Record, encode_batch, encode_control_batch, iter_batches, records_of
from kafkadouble.wire.compression import LIMIT
from kafkadouble.wire.errors import WireError
from tests.wire.legacy_messages import message, wrapper

MISSING = "kafkadouble_fast is not installed: `pip install ./fast` needs a C compiler"
EVERY = [
    pytest.param(name, marks=pytest.mark.skipif(name not in columns.available(), reason=MISSING))
    for name in ("loop", "lanes", "hybrid", "native")
]
"""Every implementation; one that is not installed is skipped, with the reason."""

BASIC = ("key", "value", "offset", "timestamp", "headers")
ORIGIN = columns.Origin("orders", 3)
_MOST_MS = ((1 << 63) - 1) // 1000

Row = tuple[Any, ...]
Outcome = tuple[list[Row], type[WireError] | None, int]
"""The rows, the error that stopped the reader, and the position of the error."""


def plainly(buffer: bytes, *, check_crc: bool = True, limit: int = LIMIT) -> Outcome:
    """The outcome of the plain reader for all batches in order."""
    rows: list[Row] = []
    try:
        for position, header in list(iter_batches(buffer)):
            rows += map(row, records_of(buffer, position, header, check_crc=check_crc, limit=limit))
    except WireError as problem:
        return rows, type(problem), problem.offset
    return rows, None, -1


def by_columns(buffer: bytes, implementation: str, *, check_crc: bool = True, **options: Any) -> Outcome:
    rows: list[Row] = []
    try:
        headers = columns.walk(buffer, partial=False)
        for batch in columns.decode(
            buffer, headers, BASIC, ORIGIN, check_crc=check_crc, implementation=implementation, **options
        ):
            rows += rows_of(batch)
    except WireError as problem:
        return rows, type(problem), problem.offset
    return rows, None, -1


def row(record: Record) -> Row:
    """A record as the columns hold it: no timestamp that overflows in microseconds, no header name
    that is not UTF-8."""
    headers = [
        (name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), value) for name, value in record.headers
    ]
    timestamp = record.timestamp if abs(record.timestamp) <= _MOST_MS else None
    return record.key, record.value, record.offset, timestamp, headers or None


def rows_of(batch: pa.RecordBatch) -> list[Row]:
    """The rows of an Arrow batch with the columns BASIC, after Arrow's own validation."""
    batch.validate(full=True)
    assert batch.schema == columns.schema(BASIC)
    micros = batch.column("timestamp").cast(pa.int64()).to_pylist()
    stamps = [None if stamp is None else stamp // 1000 for stamp in micros]
    headers = [
        None if some is None else [(each["key"], each["value"]) for each in some]
        for some in batch.column("headers").to_pylist()
    ]
    whole = [batch.column(name).to_pylist() for name in ("key", "value", "offset")]
    return list(zip(*whole, stamps, headers, strict=True))


def a_log(seed: int, batches: int = 12, most: int = 12) -> bytes:
    """Batches of every codec and kind in a row, some of them of magic 0 and 1."""
    dice = Random(seed)
    made, offset = [], dice.choice([0, 1 << 40])
    for _ in range(batches):
        batch, offset = _a_batch(dice, offset, most)
        made.append(batch)
    return b"".join(made)


def _a_batch(dice: Random, offset: int, most: int) -> tuple[bytes, int]:
    kind = dice.random()
    if kind < 0.05:
        return bytes(encode_control_batch(dice.randrange(2), b"\0\0\0\0\0\7", base_offset=offset)), offset + 1
    if kind < 0.1:
        return message(offset, dice.randbytes(9), magic=dice.randrange(2)), offset + 1
    if kind < 0.15:
        inner = [message(at, dice.randbytes(9)) for at in range(3)]
        return wrapper(offset + 2, *inner, codec=dice.choice([1, 2, 3])), offset + 3
    if kind < 0.2:
        return bytes(encode_batch((), base_offset=offset, last_offset=offset + 4)), offset + 5
    first, made = offset, []
    for _ in range(dice.randint(1, most)):
        made.append(
            Record(offset, 1_700_000_000_000 + dice.randint(-9, 10**6), _data(dice), _data(dice), _headers(dice))
        )
        offset += dice.choice([1, 1, 1, 2, 100])
    codec, stamped = dice.choice([0, 0, 0, 1, 2, 3, 4]), dice.random() < 0.1
    return bytes(encode_batch(made, base_offset=first, compression=codec, timestamp_type=stamped)), offset


def _data(dice: Random) -> bytes | None:
    size = dice.choice([-1, 0, 1, 10, 63, 64, 100, dice.choice([100, 10000])])
    return None if size < 0 else dice.randbytes(size)


def _headers(dice: Random) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((f"h{at}", _data(dice)) for at in range(dice.choice([0, 0, 0, 1, 3])))
