"""Accepts the connections of one listening socket.

Rules. A connection that may not be served yet is held, and no other is accepted meanwhile: later
connections wait in the system's backlog. The reasons are `max.connections`,
`max.connection.creation.rate`, and that all descriptors but those reserved for files are in use. A
connection from an address that creates them too fast is closed after its throttle time (KIP-612).
The acceptor looks again when a connection ends, and every `RETRY_S`. An episode of such pauses is
logged once when it begins, and once when connections have been accepted for `CALM_S` without
another. asyncio's own server would log and retry a thousand times a second without descriptors.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog

from . import descriptors
from .connection_quotas import ConnectionQuotas

if TYPE_CHECKING:
    from .handshakes import Handshakes

log = ClientLog("kafkadouble.server.network")

BACKLOG = 1024
TURN = 64
"""Connections that are accepted before others have their turn."""

RETRY_S, CALM_S = 0.1, 10

NOTHING_TO_ACCEPT = (BlockingIOError, InterruptedError, ConnectionAbortedError)
"""Nothing to accept, or the client has left again."""

Made = Callable[[Callable[[], None]], asyncio.Protocol]
"""Makes the protocol of a connection, which calls its argument when the connection ends."""


class Acceptor:
    """Owns the socket from `start` to `stop`."""

    def __init__(self, sock: socket.socket, made: Made, quotas: ConnectionQuotas) -> None:
        self._sock, self._made, self.quotas = sock, made, quotas
        self.handshakes: Handshakes | None = None
        """What a connection with TLS passes before it has its protocol; None in plaintext."""
        self.refuses: Callable[[], bool] | None = None
        """Whether a fault rule refuses the next connection; None if there is no such rule."""
        self.make_room: Callable[[], bool] | None = None
        """Closes a connection so that the one that is held may be served; False if none may be."""
        self._held: socket.socket | None = None  # accepted, and may not be served yet
        self._paused = self._in_episode = False
        # To look again, or for the end of an episode.
        self._timer: asyncio.TimerHandle | None = None
        self._opening: set[asyncio.Task[None]] = set()
        self._throttled: set[socket.socket] = set()  # to be closed when their throttle time is over
        self._proactor: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # from `start` to `stop`

    def start(self) -> None:
        """Begins to listen and to accept."""
        self._loop = asyncio.get_running_loop()
        self._sock.setblocking(False)
        self._sock.listen(BACKLOG)
        self._watch(self._loop)

    async def stop(self) -> None:
        """Accepts no more. Connections that were accepted have their protocols when this is
        over."""
        if self._loop is not None:
            self._unwatch(self._loop)
            self._loop = None
        if self._timer is not None:
            self._timer.cancel()
        if self._held is not None:
            self._held.close()
            self._held = None
        for sock in list(self._throttled):
            self._close_throttled(sock)
        if self._proactor is not None:
            self._proactor.cancel()
            await asyncio.gather(self._proactor, return_exceptions=True)
        if self.handshakes is not None:
            for opening in self._opening:
                opening.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.add_reader(self._sock, self._accept)
        except NotImplementedError:  # the loop of Windows has no readers
            self._proactor = self._proactor or loop.create_task(self._accept_one_by_one(loop))

    def _unwatch(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(NotImplementedError):
            loop.remove_reader(self._sock)

    async def _accept_one_by_one(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            if self._paused:
                await asyncio.sleep(RETRY_S)
                continue
            try:
                self._take((await loop.sock_accept(self._sock))[0])
            except OSError as problem:
                self._pause(str(problem))

    def _accept(self) -> None:
        """The socket is readable."""
        for _ in range(TURN):
            if self._paused:
                return
            try:
                sock, _ = self._sock.accept()
            except NOTHING_TO_ACCEPT:
                return
            except OSError as problem:
                self._pause(str(problem))
                return
            self._take(sock)

    def _take(self, sock: socket.socket) -> None:
        """Serves a connection, or holds it, or closes it."""
        if self.refuses is not None and self.refuses():
            from .shaped_connection import reset_on_close

            reset_on_close(sock)
            sock.close()
            return
        why = self._obstacle(sock)
        if why:
            self._held = sock
            has_room = self.make_room is not None and self.make_room()
            self._pause(why, is_logged=not has_room)
            return
        try:
            host = sock.getpeername()[0]
        except OSError:  # it has left again
            sock.close()
            return
        if delay_ms := self.quotas.throttle_address_ms(host):
            self._close_later(sock, delay_ms)
        elif self.quotas.add(host):
            self._serve(sock, host)
        else:
            most = self.quotas.most_from(host)
            log.info("rejected a connection from %s, which has the %d that one address may have", host, most)
            sock.close()

    def _close_later(self, sock: socket.socket, delay_ms: int) -> None:
        """Closes a connection that is throttled, so that its client does not connect again at
        once."""
        if self._loop is None:
            sock.close()
            return
        self._throttled.add(sock)
        self._loop.call_later(delay_ms / 1000, self._close_throttled, sock)

    def _close_throttled(self, sock: socket.socket) -> None:
        self._throttled.discard(sock)
        sock.close()

    def _obstacle(self, sock: socket.socket) -> str:
        """Why a connection may not be served now; empty when it may."""
        if self.quotas.is_full:
            return f"there are {self.quotas!r}, and {self.quotas.most} may be"
        if descriptors.is_reserved(sock.fileno()):
            return f"all but the last of {descriptors.most()} descriptors are in use"
        return "connections are created too fast" if self.quotas.is_too_fast else ""

    def _serve(self, sock: socket.socket, host: str) -> None:
        if self._loop is None:
            sock.close()
            return
        sock.setblocking(False)
        opening = self._loop.create_task(self._open(self._loop, sock, host))
        self._opening.add(opening)
        opening.add_done_callback(partial(self._opened, sock, host))

    async def _open(self, loop: asyncio.AbstractEventLoop, sock: socket.socket, host: str) -> None:
        try:
            if self.handshakes is None:
                await loop.connect_accepted_socket(lambda: self._made(lambda: self._ended(host)), sock)
            else:
                await self.handshakes.carry_out(loop, sock, lambda: self._made(lambda: self._ended(host)))
        except OSError as problem:
            log.info("a connection from %s cannot be served: %s", host, problem)
            sock.close()
            self._ended(host)

    def _opened(self, sock: socket.socket, host: str, opening: asyncio.Task[None]) -> None:
        """The connection has its protocol or was closed; or the acceptor stops meanwhile."""
        self._opening.discard(opening)
        if opening.cancelled():
            sock.close()
            self._ended(host)

    def _ended(self, host: str) -> None:
        self.quotas.remove(host)
        if self._paused and self._loop is not None:
            self._loop.call_soon(self.look_again)  # when its descriptor is free

    def _pause(self, why: str, *, is_logged: bool = True) -> None:
        """Accepts nothing until `look_again` finds that it is possible."""
        if self._loop is None:
            return
        if is_logged and not self._in_episode:
            log.warning("%s: no connection is accepted for now", why)
        if not self._paused:
            self._unwatch(self._loop)
        self._paused = True
        self._in_episode = self._in_episode or is_logged
        self._set_timer(self._loop, RETRY_S, self.look_again)

    def look_again(self) -> None:
        """Accepts again if that is possible now."""
        if self._loop is None or not self._paused:
            return
        self._paused, held, self._held = False, self._held, None
        if held is not None:
            self._take(_moved(held))
        if not self._paused:
            self._set_timer(self._loop, CALM_S, self._end_episode)
            self._watch(self._loop)

    def _end_episode(self) -> None:
        if not self._in_episode:
            return
        self._in_episode = False
        log.warning("connections have been accepted for %d s again", CALM_S)

    def _set_timer(self, loop: asyncio.AbstractEventLoop, seconds: float, action: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(seconds, action)

    def __repr__(self) -> str:
        return f"acceptor of {self.quotas!r}"


def _moved(sock: socket.socket) -> socket.socket:
    """The same connection at the lowest descriptor that is free."""
    try:
        moved = sock.dup()
    except OSError:
        return sock
    if moved.fileno() > sock.fileno():
        moved.close()
        return sock
    sock.close()
    return moved
