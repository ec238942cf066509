"""Finds fields and gathers bytes with the compiled extension `kafkadouble_fast`, which
`kafkadouble[fast]` installs."""

from __future__ import annotations

import kafkadouble_fast
import numpy as np
import pyarrow as pa

from kafkadouble.wire.errors import InvalidRecord

from .gather import CHANGED
from .spans import Bytes, Ints, RecordSpans, Shorts


def find(data: Bytes, starts: Ints, ends: Ints, counts: Ints) -> RecordSpans:
    """A `spans.Finder`."""
    count = int(counts.sum())
    shorts = np.empty((7, count), np.int32)
    spans = RecordSpans._make([np.empty(count, np.int64), *shorts, np.empty(len(counts), bool)])
    kafkadouble_fast.find(data, starts, ends, counts, *spans)
    return spans


def find_headers(data: Bytes, starts: Shorts, counts: Shorts) -> tuple[Shorts, Shorts, Shorts, Shorts]:
    """A `spans.HeaderFinder`."""
    found = np.empty((4, int(counts.sum())), np.int32)
    try:
        kafkadouble_fast.find_headers(data, starts, counts, *found)
    except ValueError:
        raise InvalidRecord(CHANGED) from None
    return found[0], found[1], found[2], found[3]


def gather(data: Bytes, starts: Shorts, sizes: Shorts) -> pa.Array:
    """A `gather.Gatherer`."""
    count = len(starts)
    held = np.maximum(sizes, 0)
    ends, valid = np.empty(count + 1, np.int32), np.zeros((count + 7) // 8, np.uint8)
    values = np.empty(int(held.sum(dtype=np.int64)), np.uint8)
    try:
        kafkadouble_fast.gather(data, starts, sizes, ends, valid, values)
    except ValueError:
        raise InvalidRecord(CHANGED) from None
    return pa.Array.from_buffers(pa.binary(), count, [pa.py_buffer(valid), pa.py_buffer(ends), pa.py_buffer(values)])
