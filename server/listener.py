"""The shell of one node: sockets and the event loop on one side, the node that knows neither on the other.

Rules. Every call into the node is made on the loop's thread, with the clock's time, and is followed by a look at when the node wants to be
called again. Accepting, reading and writing are asyncio's; what a connection is stands in `connection.py`.
"""

from __future__ import annotations

import asyncio
import asyncio.trsock
import logging
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import count

from . import flushing
from .clock import Clock, SteppedClock
from .connection import Buffers, Connection
from .node import Node
from .request import Peer

log = logging.getLogger("kafkadouble.server")


BACKLOG = 1024
NEVER = 2**63
ROUNDS = 5
"""asyncio takes three rounds from accepting a connection to telling its protocol, and if the server is closed meanwhile leaves the socket
open."""

LINGER_S = 10
"""How long a connection that we end may take to read what was written before."""

LOOKS = 4
"""How often one looks for silent connections in the time after which they are closed: that time is kept to a quarter."""


class Listener:
    """Serves one node on a socket that already listens, and owns that socket from `start` on."""

    def __init__(self, node: Node, clock: Clock, sock: socket.socket) -> None:
        self.node, self.clock, self._socket = node, clock, sock
        self.connections: set[_Protocol] = set()
        self.ids = count(1)
        self._server: asyncio.Server | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._wanted = NEVER  # when the timer is due, by the node's clock
        self._loop: asyncio.AbstractEventLoop | None = None  # from `start` on
        self._look: asyncio.TimerHandle | None = None  # for silent connections
        self.halted = asyncio.Event()
        """Set when the node says that it cannot go on."""

    async def start(self) -> None:
        """Begin to accept."""
        self._loop = asyncio.get_running_loop()
        self._server = await self._loop.create_server(lambda: _Protocol(self), sock=self._socket, backlog=BACKLOG)
        self.reschedule()
        self._look_for_silent()

    async def stop(self) -> None:
        """Accept no more, and close every connection; the port is free when this is over."""
        for timer in (self._timer, self._look):
            if timer is not None:
                timer.cancel()
        if self._server is None or self._loop is None:
            self._socket.close()
            return
        with suppress(NotImplementedError):  # the loop of Windows has no readers
            self._loop.remove_reader(self._socket)
        _shut_down(self._socket)
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
            self.close_connections()
        self._server.close()
        while self.connections:  # asyncio closes an aborted socket in the next round
            await asyncio.sleep(0)
        await self._server.wait_closed()

    def close_connections(self) -> None:
        """Cut every connection."""
        for protocol in list(self.connections):
            protocol.cut()

    def replace(self, node: Node) -> None:
        """Serve another node from now on; nobody stays connected with the old one."""
        self.close_connections()
        self.node = node
        self.reschedule()

    def advance(self, clock: SteppedClock, milliseconds: int) -> None:
        """Let time pass for the node, stopping wherever something is due, as it would with a clock that runs."""
        end = clock.now() + milliseconds
        while (deadline := self.node.next_deadline()) is not None and deadline <= end:
            clock.advance(max(0, deadline - clock.now()))
            self.node.tick(clock.now())
        clock.advance(end - clock.now())
        self.node.tick(end)

    def reschedule(self) -> None:
        """Have the node ticked when it wants to be; a clock that stands still says by itself when that is, unless it is now."""
        if self.node.halted is not None:
            self._halt()
        if self.node.flushing.wanted:
            self._flush()
        deadline = self.node.next_deadline()
        if deadline is None or deadline >= self._wanted or self._loop is None:
            return
        if isinstance(self.clock, SteppedClock) and deadline > self.clock.now():
            return
        if self._timer is not None:
            self._timer.cancel()
        self._wanted = deadline
        self._timer = self._loop.call_later(max(0, deadline - self.clock.now()) / 1000, self.tick)

    def _halt(self) -> None:
        """Nobody is served by a node that cannot go on."""
        self.close_connections()
        if not self.halted.is_set():
            self.halted.set()

    def _flush(self) -> None:
        """Flush what the node wants flushed, on another thread."""
        jobs = self.node.flushing.begin()
        if jobs and self._loop is not None:
            done = self._loop.run_in_executor(None, flushing.run, jobs)
            done.add_done_callback(partial(self._flushed, self.node, jobs))

    def _flushed(self, node: Node, jobs: Sequence[flushing.Job], done: asyncio.Future[list[flushing.Result]]) -> None:
        node.flushing.end(jobs, done.result())
        node.tick(self.clock.now())
        self.reschedule()

    def tick(self) -> None:
        """Let the node do what is due."""
        self._timer, self._wanted = None, NEVER
        self.node.tick(self.clock.now())
        self.reschedule()

    def _look_for_silent(self) -> None:
        """Close the connections on which nothing has moved for `connections.max.idle.ms`, by the time of the machine: a peer that is gone
        may not be seen while it is not read."""
        assert self._loop is not None
        longest = self.node.settings.int("connections.max.idle.ms")
        if longest < 0:
            return
        for protocol in list(self.connections):
            protocol.looks += 1
            if protocol.looks > LOOKS:
                log.info("%r has been silent for %d ms: closing", protocol.connection.peer, longest)
                protocol.cut()
        self._look = self._loop.call_later(max(longest / LOOKS, 1) / 1000, self._look_for_silent)

    def __repr__(self) -> str:
        return f"{self.node!r}, with {len(self.connections)} connections"


def _shut_down(sock: socket.socket | asyncio.trsock.TransportSocket) -> None:
    """End a socket for everybody who holds it: a process that was forked has it too."""
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class _Protocol(asyncio.Protocol):
    """What asyncio calls for one connection."""

    transport: asyncio.Transport
    connection: Connection

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.looks = 0  # since bytes last moved

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        host, port = (transport.get_extra_info("peername") or ("?", 0))[:2]
        node = self.listener.node
        max_frame = node.settings.int("socket.request.max.bytes")
        peer = Peer(next(self.listener.ids), host, port)
        self.connection = Connection(node, peer, self, max_frame)
        self.listener.connections.add(self)
        log.info("%r connected", peer)

    def write(self, buffers: Buffers) -> None:
        self.looks = 0
        for buffer in buffers:  # asyncio before Python 3.12 joins them first, megabytes or not
            self.transport.write(buffer)
        if self.connection.choked:
            self.connection.choke(self.transport.get_write_buffer_size())

    def close(self) -> None:
        self.transport.close()
        if self.transport.get_write_buffer_size():
            asyncio.get_running_loop().call_later(LINGER_S, self.transport.abort)

    def cut(self) -> None:
        """Close at once, and drop what was not sent yet."""
        _shut_down(self.transport.get_extra_info("socket"))
        self.transport.abort()

    def read_on(self, wanted: bool) -> None:
        if wanted != self.transport.is_reading():
            (self.transport.resume_reading if wanted else self.transport.pause_reading)()

    def others_first(self) -> None:
        asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self.connection.pump(self.listener.clock.now())
        self.listener.reschedule()

    def data_received(self, data: bytes) -> None:
        self.looks = 0
        self.connection.receive(data, self.listener.clock.now())
        self.listener.reschedule()

    def pause_writing(self) -> None:
        self.connection.choke(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self.connection.unchoke(self.listener.clock.now())
        self.listener.reschedule()

    def connection_lost(self, exc: Exception | None) -> None:
        self.listener.connections.discard(self)
        self.connection.lost()
        log.info("%r disconnected", self.connection.peer)
