"""Converts the input of `encode`: columns of any type that holds bytes, timestamps of any unit,
headers of any length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkadouble.wire.errors import UsageError

from .fixed import binary, numbers, present, same
from .zigzags import Ints, zigzag_sizes, zigzags

_ROUND = 16 << 20  # bytes of input; the work on them needs a few times as much memory
_MOST = (1 << 31) - 1 - 64  # bytes of a record, less room for the fields around its key and value
_MS = {"s": (1000, 1), "ms": (1, 1), "us": (1, 1000), "ns": (1, 1_000_000)}


class ByteColumn(NamedTuple):
    """A column of bytes, and their sizes: -1 for null."""

    values: pa.Array
    sizes: Ints

    def cut(self, low: int, high: int) -> ByteColumn:
        return ByteColumn(self.values.slice(low, high - low).cast(pa.binary()), self.sizes[low:high])


class EncoderInput(NamedTuple):
    """Rows to be encoded. `headers` has for each its headers' bytes, and is None when no row has
    any."""

    keys: ByteColumn
    values: ByteColumn
    timestamps: Ints
    header_counts: Ints
    header_sizes: Ints
    headers: pa.Array | None


def incoming(batch: pa.RecordBatch, now: int) -> Iterator[EncoderInput]:
    """The rows in rounds of about 16 MB. Raises UsageError for a column of the wrong type."""
    keys, values = _bytes(batch, "key"), _bytes(batch, "value")
    stamps = _timestamps(batch, now)
    headers = _Headers(batch)
    sizes = np.maximum(keys.sizes, 0) + np.maximum(values.sizes, 0) + headers.sizes
    if len(sizes) and int(sizes.max()) > _MOST:
        raise UsageError(f"a record of {int(sizes.max())} bytes: a batch holds less than 2^31")
    for low, high in rounds(sizes, _ROUND):
        yield EncoderInput(
            keys.cut(low, high), values.cut(low, high), stamps[low:high], headers.counts[low:high],
            headers.sizes[low:high], headers.encoded(low, high),
        )  # fmt: skip


def rounds(sizes: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Slices of rows whose sizes add up to at most `most`, or that are one row."""
    total = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=total[1:])
    low = 0
    while low < len(sizes):
        high = max(low + 1, int(np.searchsorted(total, total[low] + most, "right")) - 1)
        yield low, high
        low = high


def _bytes(batch: pa.RecordBatch, name: str) -> ByteColumn:
    if name not in batch.schema.names:
        if name == "value":
            raise UsageError(f"no column is called 'value': {', '.join(batch.schema.names) or 'there is none'}")
        return ByteColumn(pa.nulls(batch.num_rows, pa.binary()), np.full(batch.num_rows, -1, np.int64))
    return _measured(batch.column(name), name)


def _measured(values: pa.Array, name: str) -> ByteColumn:
    kind = values.type
    if pa.types.is_binary_view(kind) or pa.types.is_string_view(kind):
        values = values.cast(pa.large_binary())
    elif pa.types.is_fixed_size_binary(kind) or pa.types.is_null(kind):
        values = values.cast(pa.binary())
    elif not (
        pa.types.is_binary(kind) or pa.types.is_string(kind) or pa.types.is_large_binary(kind)
        or pa.types.is_large_string(kind)
    ):  # fmt: skip
        raise UsageError(f"the column {name!r} holds {kind}, not bytes or text")
    sizes = pc.binary_length(values)
    kind = np.int64 if pa.types.is_int64(sizes.type) else np.int32
    return ByteColumn(values, numbers(sizes, kind, -1).astype(np.int64))


def _timestamps(batch: pa.RecordBatch, now: int) -> Ints:
    """Milliseconds, rounded down."""
    if "timestamp" not in batch.schema.names:
        return np.full(batch.num_rows, now, np.int64)
    column = batch.column("timestamp")
    times, parts = (1, 1) if pa.types.is_int64(column.type) else _MS[_unit(column.type)]
    stamps = numbers(column.cast(pa.int64()), np.int64)
    return np.where(present(column), stamps * times if parts == 1 else stamps // parts, now)


def _unit(kind: pa.DataType) -> str:
    if not pa.types.is_timestamp(kind):
        raise UsageError(f"the column 'timestamp' holds {kind}, not timestamps or milliseconds as int64")
    unit: str = kind.unit
    return unit


class _Headers:
    """The column `headers`, if there is one: how many each row has, their bytes' sizes, and the
    bytes."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        rows = batch.num_rows
        self._first = np.zeros(rows + 1, np.int64)
        self.counts = self.sizes = np.zeros(rows, np.int64)
        self._names: ByteColumn | None = None
        if "headers" in batch.schema.names:
            self._read(batch.column("headers"))

    def _read(self, column: Any) -> None:
        if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)) or not (
            pa.types.is_struct(column.type.value_type)
            and {"key", "value"}
            <= {column.type.value_type.field(at).name for at in range(column.type.value_type.num_fields)}
        ):
            raise UsageError(f"the column 'headers' holds {column.type}, not lists of structs of key and value")
        kind = np.int32 if pa.types.is_list(column.type) else np.int64
        self.counts = numbers(pc.list_value_length(column), kind).astype(np.int64)
        members = column.flatten()
        self._names = _measured(pc.struct_field(members, "key"), "headers.key")
        self._values = _measured(pc.struct_field(members, "value"), "headers.value")
        if (self._names.sizes < 0).any():
            raise UsageError("a header without a name")
        each = zigzag_sizes(self._names.sizes) + self._names.sizes
        each += zigzag_sizes(self._values.sizes) + np.maximum(self._values.sizes, 0)
        np.cumsum(self.counts, out=self._first[1:])
        total = np.zeros(len(each) + 1, np.int64)
        np.cumsum(each, out=total[1:])
        self._total = total
        self.sizes = total[self._first[1:]] - total[self._first[:-1]]

    def encoded(self, low: int, high: int) -> pa.Array | None:
        """The bytes of the headers of some rows, as contiguous slices of those of all headers."""
        if self._names is None or not self.counts[low:high].any():
            return None
        start, end = int(self._first[low]), int(self._first[high])
        names, values = self._names.cut(start, end), self._values.cut(start, end)
        joined = join(zigzags(names.sizes), names.values, zigzags(values.sizes), values.values)
        return binary(self._total[self._first[low : high + 1]] - self._total[start], joined.buffers()[2])


def join(*columns: pa.Array) -> pa.Array:
    """The values of each row one after the other; a null is no bytes."""
    return pc.binary_join_element_wise(*columns, one(b""), null_handling="replace", null_replacement=b"")


def one(value: bytes) -> pa.Scalar:
    """A column with the same bytes in all rows."""
    return same(value, 1, pa.binary())[0]
