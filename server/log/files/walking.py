"""From batch to batch, over a file or over bytes that were read from it: only as much of each header as that takes.

What is no batch is BadFile, with its position. Checksums are not looked at: this is how batches are found, not how they are checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from kafkadouble.wire.checksum import Buffer

from ..formats.errors import BadFile
from .disk import File

_WALK = Struct(">qiib6xi8xq")  # base offset, length, leader epoch, magic, last offset delta, largest timestamp
_LEGACY_TIMESTAMP = Struct(">18xq")  # of a message of magic 1; one of magic 0 has none
_TO_MAGIC = 17
_LOG_OVERHEAD = 12  # the offset and the length, which the length does not count
_SHORTEST = (14, 22, 49)  # the least length of a batch, by magic

_WINDOW = 8 << 10
"""What is read of a file at once: the stretch between two entries of the index, and some of the next."""


class Place(NamedTuple):
    """A batch, as far as finding others needs it."""

    position: int
    base_offset: int
    last_offset: int
    size: int
    leader_epoch: int
    max_timestamp: int


class Walk:
    """A walk from `position` to `end` in a file, whose batches have offsets from `base_offset` to below `next_offset`."""

    __slots__ = ("_end", "_file", "_least", "_next_offset", "_position")

    def __init__(self, file: str, position: int, end: int, base_offset: int, next_offset: int) -> None:
        self._file, self._position, self._end = file, position, end
        self._least, self._next_offset = base_offset, next_offset

    def through(self, data: Buffer, at: int = 0) -> Iterator[Place]:
        """Every batch in `data`, which at `at` has what lies at the walk's position; the last one may be there in part."""
        while at + _WALK.size <= len(data):
            place = self._next(data, at)
            yield place
            at += place.size
        if at + _TO_MAGIC <= len(data) and data[at + _TO_MAGIC - 1] < 2:  # a message that is smaller than a header
            yield self._next(bytes(data[at:]).ljust(_WALK.size, b"\0"), 0)

    def over(self, log: File) -> Iterator[Place]:
        """Every batch in the file."""
        data, start = b"", self._position
        while self._position < self._end:
            at = self._position - start
            if at + _WALK.size > len(data):
                data, start, at = log.read(self._position, _WINDOW).ljust(_WALK.size, b"\0"), self._position, 0
            yield self._next(data, at)

    def _next(self, data: Buffer, at: int) -> Place:
        base, length, epoch, magic, delta, timestamp = _WALK.unpack_from(data, at)
        if magic < 2:  # a message has the offset of its last record, and no header beyond
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
        return Place(position, base, base + delta, size, epoch, timestamp)
