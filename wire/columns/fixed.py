"""Converts between numpy and Arrow without a copy, and without pandas: pyarrow's own constructors
of arrays and scalars import pandas, which takes longer than reading a small table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bools = npt.NDArray[np.bool_]


def fixed(values: npt.NDArray[Any], kind: pa.DataType, null: Bools | None = None) -> pa.Array:
    """A column of numbers, whose bytes are those of the Arrow type `kind`, or of booleans; null
    where `null` is true."""
    data = _bits(values) if pa.types.is_boolean(kind) else pa.py_buffer(np.ascontiguousarray(values))
    valid = None if null is None or not null.any() else _bits(~null)
    return pa.Array.from_buffers(kind, len(values), [valid, data])


def binary(ends: npt.NDArray[Any], data: npt.NDArray[np.uint8] | pa.Buffer | bytes) -> pa.Array:
    """A column of contiguous values. `ends` holds the start of the first value, then the end of
    each value."""
    return pa.Array.from_buffers(
        pa.binary(), len(ends) - 1, [None, pa.py_buffer(ends.astype(np.int32, copy=False)), pa.py_buffer(data)]
    )


def same(value: str | bytes | None, count: int, kind: pa.DataType) -> pa.Array:
    """A column that repeats one text, one string of bytes, or null."""
    if value is None:
        return pa.nulls(count, kind)
    data = value.encode() if isinstance(value, str) else value
    # Arrow's offsets are int32: the caller keeps the column below 2 GB.
    ends = np.arange(count + 1, dtype=np.int32) * np.int32(len(data))
    return binary(ends, data * count).view(kind)


def numbers(column: pa.Array, kind: type[np.generic], null: int = 0) -> npt.NDArray[Any]:
    """The numbers of an Arrow column, whose bytes are those of `kind`; `null` replaces nulls."""
    if not len(column):
        return np.zeros(0, kind)
    values = np.frombuffer(column.buffers()[1], kind)[column.offset : column.offset + len(column)]
    return np.where(present(column), values, np.asarray(null, kind)) if column.null_count else values


def present(column: pa.Array) -> Bools:
    """A mask of a column: true for values, false for nulls."""
    if not column.null_count:
        return np.ones(len(column), bool)
    bits = np.unpackbits(np.frombuffer(column.buffers()[0], np.uint8), bitorder="little")
    return bits[column.offset : column.offset + len(column)].astype(bool)


def _bits(truths: npt.NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(truths, bitorder="little"))
