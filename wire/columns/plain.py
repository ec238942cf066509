"""Rows of batches that the plain reader reads: those of magic 0 and 1, and those that the
implementations leave to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kafkadouble.wire.errors import WireError
from kafkadouble.wire.record import Record

from .gather import lists
from .headers import Headers, Ints
from .rows import Common, Rows
from .schema import TYPES

_NO_TIME = -(1 << 63)  # outside the range of the column, so it becomes null
# of keys, values and headers in one piece, unless a single record has more
_MOST_BYTES = 16 << 20


class Plain(NamedTuple):
    """A row's batch (its index among the headers), record and verdict."""

    batch: int
    record: Record
    crc_ok: bool | None


class PlainRows(Rows):
    """Rows of records that have been read, one after the other."""

    def __init__(self, common: Common, headers: Headers, plain: Sequence[Plain]) -> None:
        super().__init__(common, headers[[each.batch for each in plain]], np.arange(len(plain)))
        self._plain = plain
        self._records = [each.record for each in plain]

    def keys(self) -> pa.Array:
        return pa.array([record.key for record in self._records], pa.binary())

    def values(self) -> pa.Array:
        return pa.array([record.value for record in self._records], pa.binary())

    def header_lists(self) -> pa.Array:
        counts = np.array([len(record.headers) for record in self._records], np.int32)
        every = [header for record in self._records for header in record.headers]
        names = [name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name, _ in every]
        values = [value for _, value in every]
        return lists(counts, pa.array(names, pa.string()), pa.array(values, pa.binary()), TYPES["headers"])

    def offsets(self) -> Ints:
        return np.array([record.offset for record in self._records], np.int64)

    def timestamps(self) -> Ints:
        return np.array([record.timestamp for record in self._records], np.int64)

    def crc_oks(self) -> pa.Array:
        return pa.array([each.crc_ok for each in self._plain], pa.bool_())


def plain_rows(common: Common, headers: Headers, plain: Iterable[Plain], most: int) -> Iterator[PlainRows]:
    """`plain` in slices of at most `most` rows. An error is raised after the rows before it."""
    some: list[Plain] = []
    size = 0
    problem: WireError | None = None
    try:
        for each in plain:
            if len(some) == most or (some and size + _size(each.record) > _MOST_BYTES):
                yield PlainRows(common, headers, some)
                some, size = [], 0
            some.append(each)
            size += _size(each.record)
    except WireError as found:
        problem = found
    if some:
        yield PlainRows(common, headers, some)
    if problem is not None:
        raise problem


def stand_in(headers: Headers, index: int) -> Plain:
    """The row that reports a batch which cannot be read."""
    return Plain(index, Record(int(headers.base_offset[index]), _NO_TIME, None, None), False)


def _size(record: Record) -> int:
    return len(record.key or b"") + len(record.value or b"") + sum(len(value or b"") for _, value in record.headers)
