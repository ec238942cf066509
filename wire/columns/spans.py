"""The positions of record fields: the result of every implementation, and the checks that those in
numpy share.

A chunk holds the bodies of batches of magic 2, in order. An implementation gets the start, the end
and the number of records of each body (at least one, and no more than its bytes can hold), and
returns `RecordSpans`. It may call any batch odd, and must do so for each batch that the plain
reader refuses or reads differently. The spans of an odd batch are not used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .varints import varints

Ints = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

SMALLEST_RECORD = 7
_NARROW = 32  # with fewer records at once, numpy is slower than a loop
# and with more headers than these, too, once a few records of each slice have them
_MOST_ROUNDS = 1024


class RecordSpans(NamedTuple):
    """One entry per record, in order. Starts are relative to the chunk; a size of -1 is a null.
    `odd` has one entry a batch."""

    timestamp_delta: Ints
    offset_delta: Shorts
    key_start: Shorts
    key_size: Shorts
    value_start: Shorts
    value_size: Shorts
    header_start: Shorts
    header_count: Shorts
    odd: Bools

    def rows(self, low: int, high: int) -> RecordSpans:
        """The spans of some of the records."""
        return RecordSpans._make([*(field[low:high] for field in self[:-1]), self.odd])


Finder = Callable[[Bytes, Ints, Ints, Ints], RecordSpans]
"""An implementation: bytes of the chunk, starts and ends of bodies, counts of records."""

HeaderFinder = Callable[[Bytes, Shorts, Shorts], tuple[Shorts, Shorts, Shorts, Shorts]]
"""Its second half: bytes of the chunk, `header_start` and `header_count` of some records; gives
starts and sizes of names, then of values."""

(LENGTH, END, TIMESTAMP, OFFSET, KEY, KEY_START, VALUE, VALUE_START, HEADERS, HEADERS_START) = range(10)
RAW_ROWS = 10


def read_fields(data: Bytes, at: Ints, into: Ints) -> list[Ints]:
    """Reads the records that begin at `at` into the ten rows of `into`, varints as they are. Reads
    stay inside of `data`, and nothing is checked: `finish` does that. Returns the indexes of
    records with a varint that is too long."""
    strange: list[Ints] = []
    into[LENGTH], at = varints(data, at, 5, strange)
    into[END] = at + (into[LENGTH] >> 1)
    into[TIMESTAMP], at = varints(data, at + 1, 9, strange)
    into[OFFSET], at = varints(data, at, 5, strange)
    into[KEY], at = varints(data, at, 5, strange)
    into[KEY_START] = at
    into[VALUE], at = varints(data, at + _held(into[KEY]), 5, strange)
    into[VALUE_START] = at
    into[HEADERS], at = varints(data, at + _held(into[VALUE]), 5, strange)
    into[HEADERS_START] = at
    return strange


def finish(data: Bytes, raw: Ints, bad: Bools, ends: Ints, counts: Ints) -> RecordSpans:
    """The `RecordSpans` of the raw rows of all records, in order; `bad` are the records with a
    varint that is too long. Lengths are never negative here, so a record with the right end
    contains all of its fields."""
    first = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=first[1:])
    bad |= (raw[LENGTH] | raw[HEADERS]) & 1 != 0
    bad |= after_headers(data, raw[HEADERS_START], raw[HEADERS] >> 1, raw[END]) != raw[END]
    odd = np.logical_or.reduceat(bad, first[:-1]) if len(counts) else np.zeros(0, bool)
    odd |= raw[END][first[1:] - 1] != ends
    return RecordSpans(
        unzigzag(raw[TIMESTAMP]),
        unzigzag(raw[OFFSET]).astype(np.int32),
        raw[KEY_START].astype(np.int32),
        _sizes(raw[KEY]),
        raw[VALUE_START].astype(np.int32),
        _sizes(raw[VALUE]),
        raw[HEADERS_START].astype(np.int32),
        (raw[HEADERS] >> 1).astype(np.int32),
        odd,
    )


def after_headers(data: Bytes, starts: Ints, counts: Ints, ends: Ints) -> Ints:
    """The end of each record's headers; -1 where they cannot be read, or where few records have so
    many headers that a loop is faster."""
    after = starts.copy()
    left = np.flatnonzero(counts)
    crowded = left[counts[left] * 2 > ends[left] - starts[left]]
    after[crowded] = -1
    left = np.flatnonzero(np.where(after < 0, 0, counts))
    at, rounds = starts[left], 0
    while len(left):
        strange: list[Ints] = []
        size, at = varints(data, at, 5, strange)
        value, at = varints(data, at + (size >> 1), 5, strange)
        at += _held(value)
        rounds += 1
        wrong = (size & 1 != 0) | (at > ends[left])
        for some in strange:
            wrong[some] = True
        if rounds > _NARROW > len(left) or rounds > _MOST_ROUNDS:
            wrong[:] = True
        after[left] = np.where(wrong, -1, at)
        going = ~wrong & (counts[left] > rounds)
        left, at = left[going], at[going]
    return after


def header_spans(data: Bytes, starts: Shorts, counts: Shorts) -> tuple[Shorts, Shorts, Shorts, Shorts]:
    """Starts and sizes of the names, then of the values, of all headers of records that are in
    order."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    found = np.empty((4, int(offsets[-1])), np.int32)
    left = np.flatnonzero(counts)
    at, rounds = starts[left].astype(np.int64), 0
    while len(left):
        row = offsets[left] + rounds
        size, at = varints(data, at, 5, [])
        found[0, row], found[1, row] = at, size >> 1
        size, at = varints(data, at + (size >> 1), 5, [])
        found[2, row], found[3, row] = at, _sizes(size)
        rounds += 1
        going = counts[left] > rounds
        at = (at + _held(size))[going]
        left = left[going]
    return found[0], found[1], found[2], found[3]


def unzigzag(raw: Ints) -> Ints:
    return (raw >> 1) ^ -(raw & 1)


def _held(raw: Ints) -> Any:
    """The number of bytes of a raw length: none when it is negative."""
    return (raw >> 1) * ((raw & 1) ^ 1)


def _sizes(raw: Ints) -> Shorts:
    """A raw length as a size, -1 for all that are negative."""
    return np.where(raw & 1, -1, raw >> 1).astype(np.int32)
