"""Walks from batch to batch, in a file or in bytes that were read from it. Reads only the necessary
fields of each header.

BadFile, with the position, where no batch begins. Checksums are not checked: this finds batches,
and does not validate them.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from kafkadouble.wire.checksum import Buffer

from ..formats.errors import BadFile
from .disk import File

# Base offset, length, leader epoch, magic, last offset delta, largest timestamp.
_WALK = Struct(">qiib6xi8xq")
_LEGACY_TIMESTAMP = Struct(">18xq")  # of a message of magic 1; magic 0 has none
_TO_MAGIC = 17
# The offset and the length field, which the length does not count.
_LOG_OVERHEAD = 12
_SHORTEST = (14, 22, 49)  # the least length of a batch, by magic

_WINDOW = 8 << 10
"""Bytes of one read: the distance of two index entries, and some of the next."""


class BatchPosition(NamedTuple):
    """The fields of a batch that finding other batches needs."""

    position: int
    base_offset: int
    last_offset: int
    size: int
    leader_epoch: int
    max_timestamp: int


class BatchWalk:
    """A walk from `position` to `end` in a file. The offsets of its batches are at least
    `base_offset` and below `next_offset`."""

    __slots__ = ("_end", "_file", "_least", "_next_offset", "_position")

    def __init__(self, file: str, position: int, end: int, base_offset: int, next_offset: int) -> None:
        self._file, self._position, self._end = file, position, end
        self._least, self._next_offset = base_offset, next_offset

    def through(self, data: Buffer, at: int = 0) -> Iterator[BatchPosition]:
        """Every batch in `data`, where `at` corresponds to the position of the walk. The last batch
        may be incomplete."""
        while at + _WALK.size <= len(data):
            place = self._next(data, at)
            yield place
            at += place.size
        # a message that is smaller than a header
        if at + _TO_MAGIC <= len(data) and data[at + _TO_MAGIC - 1] < 2:
            yield self._next(bytes(data[at:]).ljust(_WALK.size, b"\0"), 0)

    def over(self, log: File) -> Iterator[BatchPosition]:
        """Every batch in the file."""
        data, start = b"", self._position
        while self._position < self._end:
            at = self._position - start
            if at + _WALK.size > len(data):
                data, start, at = log.read(self._position, _WINDOW).ljust(_WALK.size, b"\0"), self._position, 0
            yield self._next(data, at)

    def _next(self, data: Buffer, at: int) -> BatchPosition:
        base, length, epoch, magic, delta, timestamp = _WALK.unpack_from(data, at)
        # A message has the offset of its last record, and no more header fields.
        if magic < 2:
            delta, epoch = 0, -1
            timestamp = _LEGACY_TIMESTAMP.unpack_from(data, at)[0] if magic else -1
        size = length + _LOG_OVERHEAD
        position = self._position
        if not 0 <= magic <= 2 or length < _SHORTEST[magic] or position + size > self._end:
            raise BadFile(f"no batch: length {length}, magic {magic}", file=self._file, offset=position)
        if delta < 0 or not self._least <= base <= base + delta < self._next_offset:
            problem = (
                f"no batch: offsets {base} to {base + delta}, where {self._least} to {self._next_offset - 1} may be"
            )
            raise BadFile(problem, file=self._file, offset=position)
        self._least = base + delta + 1
        self._position = position + size
        return BatchPosition(position, base, base + delta, size, epoch, timestamp)
