"""Sends on one connection with TLS: everything passes the transport, which encrypts it.

Rules. The transport gets pieces of at most `PIECE` bytes, each a record of TLS or a few, for as
long as its buffer has room. The rest stays here as it is, slices of files unread, until the buffer
has room again. So a peer that does not read costs as little as without TLS.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from .outgoing import MUCH, NO_READER, TURN, Reader

PIECE = 64 << 10


class TlsOutgoing:
    """The sending half of `transport`. Nothing else may write to the transport."""

    def __init__(self, transport: asyncio.Transport, reader: Reader) -> None:
        self._transport, self.reader = transport, reader
        transport.set_write_buffer_limits(high=MUCH)
        self._held: deque[Buffer | FileSlice] = deque()
        self._is_full = self._ended = False
        self._waits = False  # for the turn of others

    @property
    def unsent(self) -> int:
        """Bytes that wait for the peer. The bytes in a buffer with free space are sent without a
        further call, also when the transport is closed."""
        return sum(map(len, self._held)) + (self._transport.get_write_buffer_size() if self._is_full else 0)

    def send(self, buffers: Sequence[Buffer | FileSlice]) -> None:
        if self._ended:
            return
        self._held.extend(filter(len, buffers))
        self._go_on()

    def filled(self) -> None:
        """The buffer of the transport is full."""
        self._is_full = True

    def emptied(self) -> None:
        """The buffer of the transport has room again."""
        self._is_full = False
        self._go_on()
        if not (self._held or self._is_full or self._ended):
            self.reader.drained()

    def _go_on(self) -> None:
        """Gives the transport as much as it has room for."""
        left = TURN
        while self._held and not (self._is_full or self._waits or self._ended):
            piece = self._next_piece()
            self._transport.write(piece)
            left -= len(piece)
            if left <= 0:
                self._waits = bool(self._held)
                if self._waits:
                    asyncio.get_running_loop().call_soon(self._have_turn)
                break
        if (unsent := self.unsent) > MUCH:
            self.reader.slow(unsent)

    def _have_turn(self) -> None:
        self._waits = False
        if not self._is_full:
            self.emptied()

    def _next_piece(self) -> bytes:
        """The next bytes, of one buffer or of several together."""
        parts, room = [], PIECE
        while self._held and room:
            first = self._held[0]
            if len(first) > room:
                parts.append(_begin_of(first, room))
                if isinstance(first, FileSlice):
                    first.skip(room)
                else:
                    self._held[0] = memoryview(first)[room:]
                break
            parts.append(first.read() if isinstance(first, FileSlice) else first)
            room -= len(first)
            self._held.popleft()
        return b"".join(parts)

    def end(self) -> None:
        """Sends nothing any more, and drops what was not sent."""
        self._ended, self.reader = True, NO_READER
        self._held.clear()

    def __repr__(self) -> str:
        return f"{self.unsent} bytes unsent"


def _begin_of(buffer: Buffer | FileSlice, size: int) -> Buffer:
    if isinstance(buffer, FileSlice):
        return buffer.read_first(size)
    return memoryview(buffer)[:size]
