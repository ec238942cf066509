"""Collects the bodies of batches, checked and decompressed, into chunks of about 16 MB.

Batches with an error, and batches that only the plain reader reads, are not part of a chunk. Each
is returned between two chunks, as a `SeparateBatch`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafkadouble.wire.batch_header import HEADER_SIZE
from kafkadouble.wire.batch_walk import check_crc
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.compression import decompress
from kafkadouble.wire.errors import WireError

from .headers import Headers, checksum
from .spans import SMALLEST_RECORD, Ints

CHUNK = 16 << 20
_BLOCK = 4096
_MOST_RECORDS = 1 << 20
# from the first to the last byte of uncompressed batches: positions must fit into 31 bits
_MOST_EXTENT = 1 << 30


class BodyChunk(NamedTuple):
    """Bodies within `data`, and the indexes of their headers."""

    data: Buffer
    starts: Ints
    ends: Ints
    counts: Ints
    indexes: Ints


class SeparateBatch(NamedTuple):
    """A batch for the plain reader, or its error."""

    batch: int
    problem: WireError | None


class Bodies:
    """One pass over the batches of a buffer; the caller releases `view`."""

    def __init__(self, view: memoryview, headers: Headers, check: bool, limit: int) -> None:
        self._view, self._headers, self._check, self._limit = view, headers, check, limit

    def __iter__(self) -> Iterator[BodyChunk | SeparateBatch]:
        pending = _Pending(self._view)
        for index, (position, size, magic, crc, codec, count) in enumerate(self._fields()):
            if self._check and checksum(self._view, position, size, magic) != crc:
                body: bytes | SeparateBatch | None = SeparateBatch(index, self._mismatch(index))
            elif magic != 2:
                body = SeparateBatch(index, None)
            elif count:
                body = self._body(index, position, size, codec, count)
            else:  # an empty batch that compaction retained
                continue
            if isinstance(body, SeparateBatch):
                yield from pending.take()
                yield body
                continue
            if pending.is_full(position, size):
                yield from pending.take()
            pending.add(index, position, size, count, body)
        yield from pending.take()

    def _fields(self) -> Iterator[list[int]]:
        """The fields of every header that are needed here, for a few thousand headers at a time."""
        for low in range(0, len(self._headers), _BLOCK):
            block = self._headers[low : low + _BLOCK]
            yield from np.stack(
                [block.position, block.size, block.magic, block.crc, block.codec, block.count], 1
            ).tolist()

    def _body(self, index: int, position: int, size: int, codec: int, count: int) -> bytes | SeparateBatch | None:
        """The decompressed body of a batch of magic 2; None if it is not compressed. A batch whose
        record count is too large for its body is left to the plain reader."""
        body, room = None, size - HEADER_SIZE
        if codec:
            try:
                body = decompress(codec, self._view[position + HEADER_SIZE : position + size], self._limit)
            except WireError as problem:
                return SeparateBatch(index, problem)
            room = len(body)
        return body if 0 < count <= room // SMALLEST_RECORD else SeparateBatch(index, None)

    def _mismatch(self, index: int) -> WireError | None:
        try:
            check_crc(self._view, int(self._headers.position[index]), self._headers.one(index))
        except WireError as problem:
            return problem
        return None


class _Pending:
    """The bodies of the next chunk: each is a part of the buffer, or was decompressed."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._clear()

    def _clear(self) -> None:
        self._indexes: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._counts: list[int] = []
        self._unpacked: dict[int, bytes] = {}
        self._size = self._records = 0

    def is_full(self, position: int, size: int) -> bool:
        """Whether the batch at `position` belongs to the next chunk."""
        if not self._indexes:
            return False
        is_separate = position < self._ends[-1] or position + size - self._starts[0] > _MOST_EXTENT
        return is_separate or self._size >= CHUNK or self._records >= _MOST_RECORDS

    def add(self, index: int, position: int, size: int, count: int, body: bytes | None) -> None:
        if body is not None:
            self._unpacked[len(self._indexes)] = body
        self._indexes.append(index)
        self._starts.append(position + HEADER_SIZE)
        self._ends.append(position + size)
        self._counts.append(count)
        self._size += size - HEADER_SIZE if body is None else len(body)
        self._records += count

    def take(self) -> Iterator[BodyChunk]:
        """Returns the chunk, unless it is empty, and begins the next chunk."""
        if not self._indexes:
            return
        indexes, counts = np.array(self._indexes), np.array(self._counts)
        starts, ends = np.array(self._starts), np.array(self._ends)
        if self._unpacked:
            parts = [
                self._unpacked.get(row) or self._view[start:end]
                for row, (start, end) in enumerate(zip(self._starts, self._ends, strict=True))
            ]
            data: Buffer = b"".join(parts)
            ends = np.cumsum([len(part) for part in parts])
            starts = np.concatenate(([0], ends[:-1]))
        else:
            first, last = self._starts[0], self._ends[-1]
            data, starts, ends = self._view[first:last], starts - first, ends - first
        self._clear()
        yield BodyChunk(data, starts, ends, counts, indexes)
