"""Chooses the partition of each row as Kafka's own producer does: the partition in the row, else
murmur2 of its key, else one partition for many rows in turn.

`murmur2` here is the function of `kafkadouble.records.partitioner` for a whole column at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SEED, M, R = 0x9747B28C, 0x5BD1E995, 24
Numbers = np.ndarray[Any, Any]


def murmur2(keys: pa.Array) -> Numbers:
    """The hash of each key (a binary column), unsigned 32 bits; the hash of a null is undefined."""
    starts, lengths, data = _positions(keys)
    hashes = np.uint32(SEED) ^ lengths.astype(np.uint32)
    m = np.uint32(M)
    with np.errstate(over="ignore"):
        for word in range(int(lengths.max(initial=0)) // 4):
            at = np.flatnonzero(lengths >= 4 * word + 4)
            k = _word(data, starts[at] + 4 * word) * m
            hashes[at] = (hashes[at] * m) ^ ((k ^ (k >> np.uint32(R))) * m)
        return _finished(hashes, starts, lengths, data)


def _finished(hashes: Numbers, starts: Numbers, lengths: Numbers, data: Numbers) -> Numbers:
    """Hashes the last one to three bytes of each key, and applies the final mixing."""
    m, tail = np.uint32(M), lengths & 3
    for byte in (2, 1, 0):
        at = np.flatnonzero(tail > byte)
        hashes[at] ^= data[starts[at] + (lengths[at] & ~3) + byte].astype(np.uint32) << np.uint32(8 * byte)
    at = np.flatnonzero(tail)
    hashes[at] *= m
    hashes ^= hashes >> np.uint32(13)
    hashes *= m
    hashes ^= hashes >> np.uint32(15)
    return hashes


def _positions(keys: pa.Array) -> tuple[Any, Any, Any]:
    """The positions of keys: starts, lengths, and the bytes. Nulls have the length 0."""
    _, offsets, values = keys.buffers()
    ends = np.frombuffer(offsets, np.int32)[keys.offset : keys.offset + len(keys) + 1].astype(np.int64)
    data = np.frombuffer(values, np.uint8) if values is not None else np.zeros(0, np.uint8)
    return ends[:-1], np.diff(ends), data


def _word(data: Numbers, at: Numbers) -> Numbers:
    words = np.zeros(len(at), np.uint32)
    for byte in range(4):
        words |= data[at + byte].astype(np.uint32) << np.uint32(8 * byte)
    return words


class Partitioner:
    """Chooses the partitions for the rows of one topic. Rows without a key in one batch of rows go
    to the same partition."""

    def __init__(self, partitions: int, first: int) -> None:
        self.partitions = partitions
        self._turn = first

    def choose(self, keys: pa.Array, given: pa.Array | None) -> Numbers:
        """The partition of every row, from the binary keys and the partitions in the rows (int32,
        with nulls)."""
        import numpy as np

        chosen = (murmur2(keys) & np.uint32(0x7FFFFFFF)).astype(np.int64) % self.partitions
        self._turn = (self._turn + 1) % self.partitions
        chosen[np.asarray(pc.is_null(keys))] = self._turn
        if given is not None:
            present = np.asarray(pc.is_valid(given))
            chosen[present] = np.asarray(pc.fill_null(given, 0))[present]
        return chosen
