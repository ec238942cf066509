"""Encodes Arrow columns as record batches of magic 2.

The bytes of the records of all rows are made at once, by joining columns of bytes, and then divided
into batches. The deltas in a record are relative to the first record of its batch, so the division
comes first, from the largest size that each record can have.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from kafkadouble.wire.batch_header import HEADER_SIZE, BatchHeader, increment_sequence
from kafkadouble.wire.batch_write import wrap_body
from kafkadouble.wire.compression import CODECS
from kafkadouble.wire.errors import UsageError

from .headers import Ints
from .incoming import EncoderInput, incoming, join, one, rounds
from .zigzags import zigzag_sizes, zigzags

_LENGTH = 5  # bytes at most of a record's own length


def encode(
    batch: pa.RecordBatch,
    *,
    codec: int = 0,
    level: int | None = None,
    now: int,
    base_offset: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    leader_epoch: int = -1,
    max_bytes: int = 1_000_000,
) -> list[bytes]:
    """Record batches of the rows, each of at most `max_bytes` before compression unless a single
    record has more. The columns are `value`, and if there are any `key`, `timestamp` (null or
    absent: `now`, ms) and `headers`; others are ignored. `level` is the codec's default unless
    given. Offsets and sequences continue from one batch to the next. Raises UsageError when a
    column has another type, or a value does not fit."""
    if codec not in CODECS:
        raise UsageError(f"no compression codec has the id {codec}")
    made: list[bytes] = []
    done = 0
    for rows in incoming(batch, now):
        # The size of each row's record without its length and its two deltas, which depend on the
        # batch.
        sizes = rows.header_sizes + zigzag_sizes(rows.header_counts) + 1
        for numbers in (rows.keys.sizes, rows.values.sizes):
            sizes += zigzag_sizes(numbers)
            sizes += np.maximum(numbers, 0)
        fixed = sizes
        cuts = [0, *(high for _, high in rounds(_longest(rows, fixed), max_bytes - HEADER_SIZE))]
        records = _records(rows, fixed, np.array(cuts))
        ends = np.frombuffer(records.buffers()[1], np.int32)
        data = memoryview(records.buffers()[2])
        for low, high in pairwise(cuts):
            stamps, first = rows.timestamps[low:high], done + low
            sequence = -1 if base_sequence < 0 else increment_sequence(base_sequence, first % (1 << 31))
            header = BatchHeader(
                base_offset + first, 0, leader_epoch, 2, 0, codec, high - low - 1, int(stamps[0]), int(stamps.max()),
                producer_id, producer_epoch, sequence, high - low,
            )  # fmt: skip
            made.append(bytes(wrap_body(header, data[ends[low] : ends[high]], level=level)))
        done += len(rows.timestamps)
    return made


def _longest(rows: EncoderInput, fixed: Ints) -> Ints:
    """An upper bound of the size of each row's record, in any batch."""
    stamps = rows.timestamps
    apart = int(stamps.max()) - int(stamps.min())
    deltas = int(zigzag_sizes(np.array([min(apart, (1 << 63) - 1), len(stamps)])).sum())
    return np.add(fixed, deltas + _LENGTH)


def _records(rows: EncoderInput, fixed: Ints, cuts: Ints) -> pa.Array:
    """The bytes of every row's record, with deltas relative to the start of its batch."""
    lengths = np.diff(cuts)
    offsets = np.arange(len(rows.timestamps)) - np.repeat(cuts[:-1], lengths)
    stamps = rows.timestamps - np.repeat(rows.timestamps[cuts[:-1]], lengths)
    sizes = fixed + zigzag_sizes(stamps) + zigzag_sizes(offsets)
    start = zigzags(sizes, np.zeros_like(sizes), stamps, offsets, rows.keys.sizes)
    middle = zigzags(rows.values.sizes)
    if rows.headers is None:
        return join(start, rows.keys.values, middle, rows.values.values, one(b"\0"))
    return join(start, rows.keys.values, middle, rows.values.values, zigzags(rows.header_counts), rows.headers)
