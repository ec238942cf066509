"""Sends on one connection: buffers and slices of files, in order, without a copy.

Rules. Bytes that the socket accepts at once are sent when `send` returns: adjacent buffers in one
system call, a slice of a file without being read (sendfile). The rest stays here as it is until the
socket is writable; asyncio's own buffer, which copies, stays empty. If the peer does not read, the
connection learns of it and begins no further request. If the event loop cannot watch a socket for
writing (Windows), asyncio sends.
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
"""A connection with more unsent bytes is choked, as asyncio would do."""

MOST_AT_ONCE = 512
"""Buffers in one system call; systems refuse more than 1024."""

TURN = 4 << 20
"""Bytes after which other connections have their turn, however fast the peer reads."""

UNABLE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
"""The errors of a system that has no sendfile for a file or a socket."""

MORE: int = getattr(socket, "MSG_MORE", 0)
"""Puts a buffer into one packet with what follows at once. Otherwise the few bytes before a slice
of a file would wake up the peer alone."""

DIRECT = hasattr(os, "sendfile") and sys.platform != "win32"


class Reader(Protocol):
    """Learns how the peer reads."""

    def slow(self, unsent: int) -> None:
        """The peer leaves this many bytes unread."""

    def moved(self) -> None:
        """The peer reads something that had waited."""

    def drained(self) -> None:
        """The peer has read everything."""

    def broken(self, problem: OSError) -> None:
        """The socket failed, and nothing is sent any more."""


class _NoReader:
    """The reader of a socket that is gone."""

    def slow(self, unsent: int) -> None: ...

    def moved(self) -> None: ...

    def drained(self) -> None: ...

    def broken(self, problem: OSError) -> None: ...


NO_READER: Reader = _NoReader()


class Outgoing:
    """The sending half of `transport`. Nothing else may write to the transport."""

    def __init__(self, transport: asyncio.Transport, reader: Reader) -> None:
        self._transport, self.reader = transport, reader
        theirs = transport.get_extra_info("socket")
        # Until `end`.
        self._socket = socket.socket(theirs.family, theirs.type, theirs.proto, theirs.fileno())
        self._held: deque[Buffer | FileSlice] = deque()
        # A descriptor of its own: asyncio keeps the one of the transport to itself.
        self._watched = -1
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
            self._report_if_slow()
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Gives the socket as much as it takes."""
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
            self._report_if_slow()
        elif self._watched >= 0:
            self._unwatch()
            self.reader.drained()

    def _send_some(self) -> tuple[int, bool]:
        """The bytes of the first buffers that the socket took, and whether it may take more.
        BlockingIOError if it takes none now."""
        held = self._held
        first = held[0]
        if first.__class__ in IN_MEMORY:
            if len(held) == 1:
                sent = self._socket.send(first)
                if sent == len(first):
                    held.clear()
                    return sent, True
            else:
                # The buffers up to the next slice of a file are sent together.
                next_ones = takewhile(lambda each: each.__class__ in IN_MEMORY, self._held)
                some = cast(list[Buffer], list(islice(next_ones, MOST_AT_ONCE)))
                sent = self._socket.sendmsg(some, (), MORE if len(some) < len(held) else 0)
        else:
            sent = _send_file(self._socket, cast(FileSlice, first))
        return sent, self._drop(sent)

    def _drop(self, sent: int) -> bool:
        """Removes this many bytes, which were sent; whether they end where a buffer ends."""
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

    def filled(self) -> None:
        """The buffer of asyncio is full, where asyncio sends."""
        self.reader.slow(self.unsent)

    def emptied(self) -> None:
        """The buffer of asyncio has room again, where asyncio sends."""
        self.reader.drained()

    def _report_if_slow(self) -> None:
        if (unsent := self.unsent) > MUCH:
            self.reader.slow(unsent)

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
        self.reader.moved()
        self._go_on()

    def _unwatch(self) -> None:
        if self._watched >= 0:
            watched, self._watched = self._watched, -1
            with suppress(RuntimeError):  # a loop that is closed watches nothing
                asyncio.get_running_loop().remove_writer(watched)
            os.close(watched)

    def end(self) -> None:
        """Sends nothing any more, and drops what was not sent."""
        if not self._ended:
            self._ended = True
            self._held.clear()
            self._unwatch()
            self._socket.detach()
            self.reader = NO_READER

    def _break(self, problem: OSError) -> None:
        reader = self.reader
        self.end()
        reader.broken(problem)

    def __repr__(self) -> str:
        return f"{self.unsent} bytes unsent"


def _send_file(sock: socket.socket, file_slice: FileSlice) -> int:
    """The bytes of it that the socket took."""
    if file_slice.in_file:
        try:
            sent = os.sendfile(sock.fileno(), file_slice.fileno(), file_slice.position, file_slice.size)
        except OSError as problem:
            if problem.errno not in UNABLE:
                raise
            file_slice.keep()
        else:
            if not sent:
                raise OSError(f"{file_slice!r} are not there any more")
            return sent
    return sock.send(file_slice.read())
