"""The headers of all batches in a buffer, as arrays: a walk from length to length finds them, and
numpy reads them at once.

A plain batch costs one unpack of its length and magic. For everything else (another magic, a length
that is too short, the end of the buffer) it calls `batch_walk`, so that one module reports the
errors.
"""

from __future__ import annotations

import zlib
from array import array
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from kafkadouble.wire.batch_header import (
    APPEND_TIME_FLAG,
    COMPRESSION_MASK,
    CONTROL_FLAG,
    CRC_START,
    HEADER_SIZE,
    LEGACY_CRC_START,
    LOG_OVERHEAD,
    TRANSACTIONAL_FLAG,
    BatchHeader,
)
from kafkadouble.wire.batch_walk import read_header
from kafkadouble.wire.checksum import Buffer, crc32c
from kafkadouble.wire.errors import Truncated, WireError

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

FIELDS = (
    "position", "size", "base_offset", "last_offset", "leader_epoch", "magic", "crc", "attributes", "base_timestamp",
    "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "count",
)  # fmt: skip

_LENGTH_TO_MAGIC = Struct(">i4xb")
_LAYOUT = np.dtype([
    ("base_offset", ">i8"), ("length", ">i4"), ("leader_epoch", ">i4"), ("magic", "i1"), ("crc", ">u4"),
    ("attributes", ">i2"), ("last_offset_delta", ">i4"), ("base_timestamp", ">i8"), ("max_timestamp", ">i8"),
    ("producer_id", ">i8"), ("producer_epoch", ">i2"), ("base_sequence", ">i4"), ("count", ">i4"),
])  # fmt: skip


class Headers:
    """Headers as arrays of int64, one entry a batch: each of FIELDS is an attribute. `position`
    counts from the buffer's start. A message of magic 0 or 1 has the count 1, or -1 when it wraps
    others. `headers[mask]` and `headers[i:j]` are Headers, too."""

    __slots__ = ("_table",)

    position: Ints
    size: Ints
    base_offset: Ints
    last_offset: Ints
    leader_epoch: Ints
    magic: Ints
    crc: Ints
    attributes: Ints
    base_timestamp: Ints
    max_timestamp: Ints
    producer_id: Ints
    producer_epoch: Ints
    base_sequence: Ints
    count: Ints

    def __init__(self, table: Ints) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Ints:
        row = _ROWS.get(name)
        if row is None:
            raise AttributeError(name)
        ints: Ints = self._table[row]
        return ints

    def __len__(self) -> int:
        return len(self.position)

    def __getitem__(self, chosen: Any) -> Headers:
        return Headers(self._table[:, chosen])

    def __repr__(self) -> str:
        return f"Headers({len(self)} batches)"

    @property
    def end(self) -> Ints:
        """The position of the end of each batch in the buffer."""
        return self.position + self.size

    @property
    def codec(self) -> Ints:
        return self.attributes & COMPRESSION_MASK

    @property
    def timestamp_type(self) -> Ints:
        """0 for CreateTime, 1 for LogAppendTime."""
        return (self.attributes & APPEND_TIME_FLAG) // APPEND_TIME_FLAG

    @property
    def transactional(self) -> Bools:
        return np.asarray(self.attributes & TRANSACTIONAL_FLAG, bool)

    @property
    def control(self) -> Bools:
        return np.asarray(self.attributes & CONTROL_FLAG, bool)

    def one(self, index: int) -> BatchHeader:
        """The header at `index`, as `wire.batch` has it."""
        row = dict(zip(FIELDS, self._table[:, index].tolist(), strict=True))
        return BatchHeader(
            row["base_offset"], row["size"], row["leader_epoch"], row["magic"], row["crc"], row["attributes"],
            row["last_offset"] - row["base_offset"], row["base_timestamp"], row["max_timestamp"], row["producer_id"],
            row["producer_epoch"], row["base_sequence"], row["count"],
        )  # fmt: skip


_ROWS = {name: row for row, name in enumerate(FIELDS)}


def walk(buffer: Buffer, partial: bool = True, origin: int = 0) -> Headers:
    """The headers of all batches in `buffer`. A last one that is cut off is left out, or without
    `partial` raises Truncated. `origin` is added to the byte offsets of errors: BadLength,
    UnsupportedMagic, CorruptBatch."""
    try:
        positions, odd = _positions(buffer, partial)
    except WireError as problem:
        problem.offset += origin
        raise
    return Headers(_read(buffer, positions, odd))


def good_crc(buffer: Buffer, headers: Headers) -> Bools:
    """Which batches match their checksums."""
    fields = zip(
        headers.position.tolist(), headers.size.tolist(), headers.magic.tolist(), headers.crc.tolist(), strict=True
    )
    with memoryview(buffer) as view:
        return np.fromiter((checksum(view, *each) == crc for *each, crc in fields), bool, len(headers))


def checksum(view: memoryview, position: int, size: int, magic: int) -> int:
    """The expected checksum of the batch at `position`."""
    if magic == 2:
        return crc32c(view[position + CRC_START : position + size])
    return zlib.crc32(view[position + LEGACY_CRC_START : position + size])


def _positions(buffer: Buffer, partial: bool) -> tuple[array[int], dict[int, BatchHeader]]:
    """The positions of the batches, and the headers of batches without magic 2 by their index."""
    unpack, positions, odd = _LENGTH_TO_MAGIC.unpack_from, array("q"), {}
    position, end, last = 0, len(buffer), len(buffer) - HEADER_SIZE
    shortest = HEADER_SIZE - LOG_OVERHEAD
    while position < end:
        if position <= last:
            length, magic = unpack(buffer, position + 8)
            if magic == 2 and length >= shortest and position + 12 + length <= end:
                positions.append(position)
                position += 12 + length
                continue
        try:
            header = read_header(buffer, position)
        except Truncated:
            if partial:
                break
            raise
        odd[len(positions)] = header
        positions.append(position)
        position += header.size
    return positions, odd


def _read(buffer: Buffer, positions: array[int], odd: dict[int, BatchHeader]) -> Ints:
    table = np.empty((len(FIELDS), len(positions)), np.int64)
    table[0] = positions
    if odd:
        plain = np.ones(len(positions), bool)
        plain[list(odd)] = False
        table[1:, plain] = _columns(buffer, table[0][plain])
        for index, header in odd.items():
            table[1:, index] = _row(header)
    else:
        table[1:] = _columns(buffer, table[0])
    return table


def _columns(buffer: Buffer, positions: Ints) -> Ints:
    """All FIELDS but the position, of headers of magic 2."""
    rows = np.empty((len(FIELDS) - 1, len(positions)), np.int64)
    if len(positions):
        everywhere: Any = np.ndarray((len(buffer) - HEADER_SIZE + 1,), _LAYOUT, buffer, strides=(1,))
        read = everywhere[positions]
        for row, name in enumerate(FIELDS[1:]):
            if name in read.dtype.names:
                rows[row] = read[name]
        rows[0] = read["length"].astype(np.int64) + LOG_OVERHEAD
        rows[2] = rows[1] + read["last_offset_delta"]
    return rows


def _row(header: BatchHeader) -> list[int]:
    return [
        header.size, header.base_offset, header.last_offset, header.partition_leader_epoch, header.magic, header.crc,
        header.attributes, header.base_timestamp, header.max_timestamp, header.producer_id, header.producer_epoch,
        header.base_sequence, header.count,
    ]  # fmt: skip
