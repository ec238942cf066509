"""A chunk without memory of its own: it stands in that of another replica's chunk, of the same process.

A follower appends byte for byte what its leader has, and what a chunk has handed out never changes: so it may keep the leader's bytes in place
of a copy. Rules. Nothing is ever written here. What each replica has of the memory is its own matter, told by its own chunk and index: who
cuts his log, or deletes it, takes nothing from the other, and the memory is there for as long as somebody has a part of it.
"""

from __future__ import annotations

from struct import Struct
from typing import TypeGuard

from kafkadouble.wire.batch import LOG_OVERHEAD
from kafkadouble.wire.checksum import Buffer

from .memory_chunk import LASTING, Chunk
from .storage import Placed

_BEGINNING = Struct(
    ">qiibI"
)  # base offset, length, leader epoch, magic, checksum: no two batches of a memory have the same
_WALK = Struct(">qi")


def may_be_shared(batch: Buffer, placed: Placed) -> TypeGuard[memoryview]:
    """Whether a batch lies where it will never change, and is as it is to be stored."""
    if not (isinstance(batch, memoryview) and isinstance(batch.obj, LASTING) and placed.sealed):
        return False
    base_offset, length, epoch, *_ = _BEGINNING.unpack_from(batch)
    place = placed.base_offset, len(batch) - LOG_OVERHEAD, placed.leader_epoch
    return (base_offset, length, epoch) == place


def chunk_around(batch: memoryview, placed: Placed) -> SharedChunk | None:
    """A chunk that begins with this batch; None where the batch is not found in its memory."""
    memory = memoryview(batch.obj)
    position = _place_of(placed.base_offset, memory)
    chunk = None if position is None else SharedChunk(placed.base_offset, memory[position:])
    return chunk if chunk is not None and chunk.go_on_with(batch, placed) else None


class SharedChunk(Chunk):
    """From the beginning of `memory` on, as far as it was told that there are batches."""

    __slots__ = ()

    def __init__(self, base_offset: int, memory: memoryview) -> None:
        self._begin(base_offset, memory.toreadonly())
        self._room = 0

    def go_on_with(self, batch: memoryview, placed: Placed) -> bool:
        """Take in a batch that may be shared, if it is what lies at the end."""
        memory, size = self._memory, self.size
        if (
            batch.obj is not memory.obj
            or len(batch) > len(memory) - size
            or _BEGINNING.unpack_from(batch) != _BEGINNING.unpack_from(memory, size)
        ):
            return False
        self._enter(size, len(batch), placed)
        return True


def _place_of(base_offset: int, memory: memoryview) -> int | None:
    """Where the batch begins that begins at this offset."""
    position, end = 0, len(memory) - _WALK.size
    while position <= end:
        base, length = _WALK.unpack_from(memory, position)
        if base >= base_offset or length <= 0:
            return position if base == base_offset else None
        position += length + LOG_OVERHEAD
    return None
