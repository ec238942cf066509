"""Gathers values that are scattered in a buffer into an Arrow column, without a loop.

An array of binary values over the whole buffer needs only offsets: start, end, start, end, ...
Every second value of this array is requested; the others are the gaps. One `take` copies the
requested values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from kafkadouble.wire.errors import InvalidRecord

from .fixed import fixed
from .spans import Bytes, Shorts

CHANGED = "the bytes of records changed while they were being read"

Gatherer = Callable[[Bytes, Shorts, Shorts], pa.Array]
"""Takes the bytes of a chunk, and the starts and sizes of values in it (-1 for a null). Returns the
values as a binary column."""


def gather(data: Bytes, starts: Shorts, sizes: Shorts) -> pa.Array:
    """Implements `Gatherer`; the starts ascend."""
    count = len(starts)
    if not count:
        return pa.nulls(0, pa.binary())
    offsets = np.empty(2 * count, np.int32)
    offsets[0::2] = starts
    np.add(starts, np.maximum(sizes, 0), out=offsets[1::2])
    if starts[0] < 0 or offsets[-1] > len(data) or (offsets[1:] < offsets[:-1]).any():
        raise InvalidRecord(CHANGED)
    everything = pa.Array.from_buffers(pa.binary(), 2 * count - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    indexes = np.arange(0, 2 * count, 2, dtype=np.int32)
    null = sizes < 0
    return everything.take(fixed(indexes, pa.int32(), null))


def as_names(names: pa.Array) -> pa.Array:
    """A binary column as text. Bytes that are not UTF-8 are replaced, as Java's reader does."""
    try:
        return names.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([name.decode("utf-8", "replace") for name in names.to_pylist()], pa.string())


def lists(counts: Shorts, names: pa.Array, values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Headers as lists of structs of type `kind`; a record without headers has a null, as in
    Spark's Kafka source."""
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    members = pa.StructArray.from_arrays([names, values], fields=list(kind.value_type))
    return pa.ListArray.from_arrays(fixed(offsets, pa.int32()), members, type=kind, mask=fixed(counts == 0, pa.bool_()))
