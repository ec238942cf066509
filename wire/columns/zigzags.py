"""Writes numbers as a column of zigzag varints. The mirror of `varints`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .fixed import binary

Ints = npt.NDArray[np.int64]
Raw = npt.NDArray[np.uint64]


def zigzag_sizes(numbers: Ints) -> Ints:
    """How many bytes each takes."""
    return _sizes(_zigzag(numbers))


def zigzags(*columns: Ints) -> pa.Array:
    """One binary value per row: the varints of the row's numbers, in order."""
    raws = [_zigzag(column) for column in columns]
    sizes = [_sizes(raw) for raw in raws]
    ends = np.zeros(len(columns[0]) + 1, np.int64)
    np.cumsum(np.add.reduce(sizes), out=ends[1:])
    data = np.empty(int(ends[-1]), np.uint8)
    at = ends[:-1].copy()
    for raw, size in zip(raws, sizes, strict=True):
        for number in range(int(size.max(initial=0))):
            byte = (raw >> np.uint64(7 * number)).astype(np.uint8) & np.uint8(127)
            byte |= (size > number + 1).astype(np.uint8) << np.uint8(7)
            if number == 0:
                data[at] = byte
            else:
                there = np.flatnonzero(size > number)
                data[at[there] + number] = byte[there]
        at += size
    return binary(ends, data)


def _zigzag(numbers: Ints) -> Raw:
    return ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)


def _sizes(raw: Raw) -> Ints:
    sizes = np.ones(len(raw), np.int64)
    highest, shift = int(raw.max(initial=0)), 7
    while highest >> shift:
        sizes += raw >> np.uint64(shift) != 0
        shift += 7
    return sizes
