"""The TLS handshakes of the connections to one listener.

Rules. asyncio shakes hands, and gives a connection the buffers that it needs for that, which are a
quarter of a MiB. A connection gets them when its whole first record is there, which is the hello of
TLS, and when it has its turn (`handshake_turns.py`); one that sends less costs no more than its
socket. All of it takes `connections.max.idle.ms` at most, and never more than `LONGEST_S`, without
the time before its turn. A connection that fails has one line in the log, which says why.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

from kafkadouble.wire.client_log import ClientLog

from ..configs.settings import Settings
from ..requests.close_reasons import no_handshake, no_tls
from .handshake_turns import HandshakeTurns

log = ClientLog("kafkadouble.server.network")

LONGEST_S = 30
"""How long a handshake takes at most, and how long the end of a connection waits for the peer's."""

LINGER_S = 10
FIRST_BYTES = 16
"""So many tell TLS from other protocols."""

HANDSHAKE, HEADER = b"\x16", 5
LONGEST_RECORD = HEADER + (1 << 14)
"""Bytes of a record of TLS, with its header."""


class Handshakes:
    """The handshakes of one listener. `context` gives the SSL context of the next connection."""

    def __init__(self, context: Callable[[], ssl.SSLContext], settings: Settings) -> None:
        self._context, self._turns = context, HandshakeTurns()
        idle_ms = settings.int("connections.max.idle.ms")
        self.seconds = LONGEST_S if idle_ms < 0 else min(LONGEST_S, max(idle_ms, 1) / 1000)

    async def carry_out(
        self, loop: asyncio.AbstractEventLoop, sock: socket.socket, made: Callable[[], asyncio.Protocol]
    ) -> None:
        """Shake hands, and have the protocol made. OSError when that fails."""
        try:
            async with asyncio.timeout(self.seconds):
                first = await _first_bytes(loop, sock)
        except TimeoutError:
            raise OSError(no_handshake(f"it has sent nothing for {self.seconds:g} s")) from None
        if why := no_tls(first):
            raise OSError(why)
        task = asyncio.current_task()
        assert task is not None
        async with self._turns.one(task):
            try:
                await loop.connect_accepted_socket(
                    made,
                    sock,
                    ssl=cast(ssl.SSLContext, _AlertingContext(self._context(), sock)),
                    ssl_handshake_timeout=self.seconds,
                    ssl_shutdown_timeout=LINGER_S,
                )
            except OSError as problem:
                # A future of asyncio has the exception, and the frames of its traceback have that.
                raise OSError(no_handshake(reason_of(problem.with_traceback(None)))) from None


def _nothing() -> None:
    """No alert is sent."""


class _AlertingObject(ssl.SSLObject):
    """One handshake. When it fails, the client gets the alert that says why, as from Kafka: asyncio
    would close the socket without it."""

    alert: Callable[[], None] = staticmethod(_nothing)
    """A context keeps this class, and its other users send no alert."""

    def do_handshake(self) -> None:
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError:
            self.alert()
            raise


class _AlertingContext:
    """An SSL context as asyncio uses it, for one handshake."""

    def __init__(self, context: ssl.SSLContext, sock: socket.socket) -> None:
        self._context, self._sock = context, sock

    def wrap_bio(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, **how: Any) -> ssl.SSLObject:
        self._context.sslobject_class = _AlertingObject
        made = cast(_AlertingObject, self._context.wrap_bio(incoming, outgoing, **how))
        made.alert = partial(_alert, self._sock, outgoing)
        return made


def _alert(sock: socket.socket, outgoing: ssl.MemoryBIO) -> None:
    with suppress(OSError):
        sock.send(outgoing.read())


def reason_of(problem: OSError) -> str:
    """Why a handshake failed, in a few words."""
    if why := getattr(problem, "verify_message", None):
        return f"the client's certificate is not trusted: {why}"
    reason = getattr(problem, "reason", None)
    return str(reason).lower().replace("_", " ") if reason else str(problem) or "the client has closed the connection"


async def _first_bytes(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> bytes:
    """The first bytes, which stay to be read, once the whole first record of TLS is there, or what
    is none. Empty when the client has left."""
    first = await _peeked(loop, sock)
    while len(first) < (needed := _size_of_record(first)) <= LONGEST_RECORD:
        if not _wake_with(sock, needed):
            break
        await _readable(loop, sock)
        before, first = first, await _peeked(loop, sock)
        if len(first) == len(before):
            raise OSError(no_handshake("the client has closed the connection"))
    _wake_with(sock, 1)
    return first[:FIRST_BYTES]


def _size_of_record(first: bytes) -> int:
    """The size of the record that begins with these bytes, as far as they say it; 0 for what is no
    handshake of TLS."""
    if first[:1] != HANDSHAKE:
        return 0
    return HEADER + int.from_bytes(first[3:HEADER]) if len(first) >= HEADER else HEADER


def _wake_with(sock: socket.socket, count: int) -> bool:
    """Sets how many bytes make the socket readable. Returns whether the system can do that."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)
    except (OSError, AttributeError):  # Windows
        return False
    return True


async def _peeked(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> bytes:
    while True:
        try:
            return sock.recv(LONGEST_RECORD, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            await _readable(loop, sock)


async def _readable(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
    readable = loop.create_future()
    try:
        loop.add_reader(sock, _set, readable)
    except NotImplementedError:  # the loop of Windows has no readers
        await asyncio.sleep(0.01)
        return
    try:
        await readable
    finally:
        loop.remove_reader(sock)


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
