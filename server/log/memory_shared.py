"""A chunk without memory of its own: its batches are in the memory of another replica's chunk, in
the same process.

A follower appends the same bytes as its leader, and the bytes of a chunk never change. So a
follower may keep a view of the leader's bytes in place of a copy. Rules. Nothing is ever written
here. Each replica has its own chunk and index: a truncation or deletion in one log takes nothing
from the other. The memory is freed when no chunk and no reader has a view of it.
"""

from __future__ import annotations

from struct import Struct
from typing import TypeGuard

from kafkadouble.wire.batch import LOG_OVERHEAD
from kafkadouble.wire.checksum import Buffer

from .memory_chunk import LASTING, MemoryChunk
from .storage import LogAppendInfo

# Base offset, length, leader epoch, magic, checksum: no two batches of a memory have the same.
_BEGINNING = Struct(">qiibI")
_WALK = Struct(">qi")


def may_be_shared(batch: Buffer, info: LogAppendInfo) -> TypeGuard[memoryview]:
    """Whether the batch is in memory that never changes, in the form in which it is stored."""
    if not (isinstance(batch, memoryview) and isinstance(batch.obj, LASTING) and info.sealed):
        return False
    base_offset, length, epoch, *_ = _BEGINNING.unpack_from(batch)
    place = info.base_offset, len(batch) - LOG_OVERHEAD, info.leader_epoch
    return (base_offset, length, epoch) == place


def chunk_around(batch: memoryview, info: LogAppendInfo) -> SharedChunk | None:
    """A chunk that begins with this batch; None when the batch is not found in its memory."""
    memory = memoryview(batch.obj)
    position = _place_of(info.base_offset, memory)
    chunk = None if position is None else SharedChunk(info.base_offset, memory[position:])
    return chunk if chunk is not None and chunk.go_on_with(batch, info) else None


class SharedChunk(MemoryChunk):
    """A chunk in the memory of another one: from the start of `memory` to the last batch that was
    added."""

    __slots__ = ()

    def __init__(self, base_offset: int, memory: memoryview) -> None:
        self._begin(base_offset, memory.toreadonly())
        self._room = 0

    def go_on_with(self, batch: memoryview, info: LogAppendInfo) -> bool:
        """Adds a batch that may be shared, if it lies at the end of this chunk."""
        memory, size = self._memory, self.size
        if (
            batch.obj is not memory.obj
            or len(batch) > len(memory) - size
            or _BEGINNING.unpack_from(batch) != _BEGINNING.unpack_from(memory, size)
        ):
            return False
        self._enter(size, len(batch), info)
        return True


def _place_of(base_offset: int, memory: memoryview) -> int | None:
    """The position in this memory of the batch with this base offset."""
    position, end = 0, len(memory) - _WALK.size
    while position <= end:
        base, length = _WALK.unpack_from(memory, position)
        if base >= base_offset or length <= 0:
            return position if base == base_offset else None
        position += length + LOG_OVERHEAD
    return None
