"""The HTTP server of the control plane: uvicorn's, behind the acceptor of the brokers.

Rules. The control port takes at most `MOST_CONNECTIONS`, and at most a quarter of the descriptors
of the process. The acceptor leaves the last descriptors to files, as it does for brokers. When the
last connection is taken, the one that has waited longest for its client is closed: it has sent
nothing, or half a request, or does not read its answer. If every connection has a running call, the
last one is answered with 503. A client has `HEAD_S` to send the head of a request, and `READ_S` to
read what is written.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network import descriptors
from kafkadouble.server.network.acceptor import Acceptor
from kafkadouble.server.network.connection_quotas import MOST, ConnectionQuotas
from kafkadouble.wire.client_log import ClientLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

log = ClientLog("kafkadouble.control")

PARSER_LOG = ClientLog("kafkadouble.control.http").logger
"""Where uvicorn logs what is wrong with single requests."""
PARSER_LOG.setLevel(logging.ERROR)

MOST_CONNECTIONS = 256
GRACE_S = 1
"""How long open calls may take to end after `stop`."""

HEAD_S, READ_S = 10, 30


class HttpServer(uvicorn.Server):
    """Serves one application at one listening socket."""

    def __init__(self, app: Any, sock: socket) -> None:
        super().__init__(_config(app))
        quotas = ConnectionQuotas(
            "the control port",
            lambda: Settings({MOST: str(self.most)}),
            now=lambda: int(time.monotonic() * 1000),
        )
        self._acceptor = Acceptor(sock, self._made, quotas)
        self._acceptor.make_room = self.make_room
        self._is_crowded = False  # and the log says so

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Called by uvicorn. It gets no socket, since its own servers accept without a limit."""
        await super().startup([])
        self._acceptor.start()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        await self._acceptor.stop()
        await super().shutdown([])

    def _made(self, ended: Callable[[], None]) -> ControlProtocol:
        return ControlProtocol(self, ended)

    @property
    def most(self) -> int:
        """The limit of connections, by the limit of descriptors that counts now."""
        return descriptors.share(MOST_CONNECTIONS)

    @property
    def connections(self) -> set[ControlProtocol]:
        """The open connections."""
        return self.server_state.connections  # type: ignore[return-value]

    def make_room(self, newest: ControlProtocol | None = None) -> bool:
        """Closes the connection that has waited longest for its client, unless it is `newest`.
        Returns whether there was one."""
        waiting = [each for each in self.connections if each.waits_for_client and each is not newest]
        if not waiting:
            return False
        min(waiting, key=lambda each: each.waits_since).transport.abort()
        if not self._is_crowded:
            log.warning("the control port is full: those of its %d connections that wait longest are closed", self.most)
        self._is_crowded = True
        return True

    def on_lost(self) -> None:
        """A connection has ended."""
        if len(self.connections) < self.most // 2:
            self._is_crowded = False


class ControlProtocol(H11Protocol):
    """A connection, with limits for its client."""

    def __init__(self, server: HttpServer, ended: Callable[[], None]) -> None:
        super().__init__(server.config, server.server_state, app_state={})
        self.logger = PARSER_LOG
        self.limit_concurrency = server.most
        self._server, self._ended = server, ended
        self.waits_since = self.loop.time()
        self._head, self._read = _Limit(self), _Limit(self)

    @property
    def has_call(self) -> bool:
        """Whether the head of a request has come, and its answer is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def waits_for_client(self) -> bool:
        """Whether the server can do nothing before the client sends or reads."""
        if self.transport.is_closing():
            return False
        return not self.has_call or self.cycle.more_body or self._read.runs

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit_head()
        if len(self._server.connections) >= self._server.most:
            self._server.make_room(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._limit_head()

    def on_response_complete(self) -> None:
        self.waits_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._read.begin(READ_S)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._read.end()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._head.end()
        self._read.end()
        self._server.on_lost()
        self._ended()

    def _limit_head(self) -> None:
        """Begins to count `HEAD_S`, or end that. More bytes of the same head do not begin it
        again."""
        if self.has_call or self.transport.is_closing():
            self._head.end()
        else:
            self._head.begin(HEAD_S)


class _Limit:
    """Aborts a connection unless it is ended in time."""

    def __init__(self, protocol: ControlProtocol) -> None:
        self._protocol = protocol
        self._timer: asyncio.TimerHandle | None = None

    @property
    def runs(self) -> bool:
        return self._timer is not None

    def begin(self, seconds: float) -> None:
        """Does nothing if the limit runs."""
        if self._timer is None:
            self._timer = self._protocol.loop.call_later(seconds, self._protocol.transport.abort)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
