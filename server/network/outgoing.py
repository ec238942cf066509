"""What is sent on one connection: buffers and stretches of files, in order, none of them copied on the way.

Rules. What the socket takes at once is gone when `send` returns: buffers that follow one another in one call of the system, a stretch of a file
without being read (sendfile). What it does not take stays here as it came, until the socket is writable; asyncio's own buffer, which copies
what is put into it, stays empty. Somebody who does not read is told of, so that nothing more is begun for him. Where a loop cannot watch
a socket for us (Windows), asyncio sends.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice, takewhile
from typing import Protocol, cast

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from . import descriptors

IN_MEMORY = (bytes, bytearray, memoryview)

MUCH = 64 << 10
"""With so many bytes unsent a connection is choked, as asyncio would do."""

MOST_AT_ONCE = 512
"""Buffers in one call; systems refuse more than 1024."""

TURN = 4 << 20
"""Bytes after which other connections have their turn, however fast this one is read."""

UNABLE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
"""What a system says of files, or sockets, that it has no sendfile for."""

MORE: int = getattr(socket, "MSG_MORE", 0)
"""What is sent goes into one packet with what follows at once: else the few bytes before a stretch wake up the peer for nothing else."""

DIRECT = hasattr(os, "sendfile") and sys.platform != "win32"


class Reader(Protocol):
    """Who is told how the peer reads."""

    def slow(self, unsent: int) -> None:
        """So many bytes wait for it."""

    def moved(self) -> None:
        """It takes something that had waited."""

    def drained(self) -> None:
        """Nothing waits for it any more."""

    def broken(self, problem: OSError) -> None:
        """It will get nothing any more."""


class Outgoing:
    """The sending half of `transport`, which must not be written to by anybody else."""

    def __init__(self, transport: asyncio.Transport, reader: Reader) -> None:
        self._transport, self._reader = transport, reader
        theirs = transport.get_extra_info("socket")
        self._socket = socket.socket(theirs.family, theirs.type, theirs.proto, theirs.fileno())  # until `end`
        self._held: deque[Buffer | FileSlice] = deque()
        self._watched = -1  # a descriptor of our own: asyncio keeps the transport's to itself
        self._ended = False

    @property
    def unsent(self) -> int:
        """Bytes that the socket did not take yet."""
        return self._transport.get_write_buffer_size() + sum(map(len, self._held))

    def send(self, buffers: Sequence[Buffer | FileSlice]) -> None:
        if self._ended:
            return
        if not DIRECT:
            for buffer in buffers:
                self._transport.write(buffer.read() if isinstance(buffer, FileSlice) else buffer)
            return
        waits = bool(self._held)
        self._held.extend(filter(len, buffers))
        if waits:
            self._tell_if_slow()
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Give the socket what it takes."""
        left, goes_on = TURN, True
        try:
            while self._held and goes_on and left > 0:
                sent, goes_on = self._send_some()
                left -= sent
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as problem:
            self._break(problem)
            return
        if self._held:
            self._watch()
            self._tell_if_slow()
        elif self._watched >= 0:
            self._unwatch()
            self._reader.drained()

    def _send_some(self) -> tuple[int, bool]:
        """How many bytes of the first buffers the socket took, and whether that is so many that it may take more. BlockingIOError when it takes
        nothing now."""
        held = self._held
        first = held[0]
        if first.__class__ in IN_MEMORY:
            if len(held) == 1:
                sent = self._socket.send(first)
                if sent == len(first):
                    held.clear()
                    return sent, True
            else:
                some = self._next_in_memory()
                sent = self._socket.sendmsg(some, (), MORE if len(some) < len(held) else 0)
        else:
            sent = _send_file(self._socket, cast(FileSlice, first))
        return sent, self._drop(sent)

    def _next_in_memory(self) -> list[Buffer]:
        """The buffers up to the next stretch, which are sent together."""
        next_ones = takewhile(lambda each: each.__class__ in IN_MEMORY, self._held)
        return cast(list[Buffer], list(islice(next_ones, MOST_AT_ONCE)))

    def _drop(self, sent: int) -> bool:
        """So many bytes of what is held have gone; whether they end where a buffer ends."""
        held = self._held
        while held and sent >= (size := len(held[0])):
            sent -= size
            held.popleft()
        if sent:
            first = held[0]
            if isinstance(first, FileSlice):
                first.skip(sent)
            else:
                held[0] = memoryview(first)[sent:]
        return not sent

    def _tell_if_slow(self) -> None:
        if (unsent := self.unsent) > MUCH:
            self._reader.slow(unsent)

    def _watch(self) -> None:
        if self._watched >= 0:
            return
        try:
            self._watched = descriptors.kept(os.dup(self._socket.fileno()))
        except OSError as problem:  # too many files are open
            self._break(problem)
        else:
            asyncio.get_running_loop().add_writer(self._watched, self._writable)

    def _writable(self) -> None:
        self._reader.moved()
        self._go_on()

    def _unwatch(self) -> None:
        if self._watched >= 0:
            watched, self._watched = self._watched, -1
            with suppress(RuntimeError):  # a loop that is closed watches nothing
                asyncio.get_running_loop().remove_writer(watched)
            os.close(watched)

    def end(self) -> None:
        """Send nothing any more, and forget what was not sent."""
        if not self._ended:
            self._ended = True
            self._held.clear()
            self._unwatch()
            self._socket.detach()

    def _break(self, problem: OSError) -> None:
        self.end()
        self._reader.broken(problem)

    def __repr__(self) -> str:
        return f"{self.unsent} bytes unsent"


def _send_file(sock: socket.socket, stretch: FileSlice) -> int:
    """How many bytes of it the socket took."""
    if stretch.in_file:
        try:
            sent = os.sendfile(sock.fileno(), stretch.fileno(), stretch.position, stretch.size)
        except OSError as problem:
            if problem.errno not in UNABLE:
                raise
            stretch.keep()
        else:
            if not sent:
                raise OSError(f"{stretch!r} are not there any more")
            return sent
    return sock.send(stretch.read())
