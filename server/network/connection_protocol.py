"""The socket of one connection, as asyncio calls it: bytes in, bytes out, and its end.

Every call into the node is followed by `reschedule` of the listener. What the connection is, beside
its socket, stands in `connection.py`.
"""

from __future__ import annotations

import asyncio
import asyncio.trsock
import socket
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Protocol

from kafkadouble.wire.client_log import ClientLog

from ..requests.listener_spec import ListenerSpec
from ..requests.request import Peer
from .connection import Connection
from .connection_quotas import ConnectionQuotas
from .line import Buffers, Line
from .outgoing import Outgoing
from .tls_outgoing import TlsOutgoing

if TYPE_CHECKING:
    from ..node import Node
    from .clock import Clock
    from .turns import RequestTurns

log = ClientLog("kafkadouble.server.network")

OWED_S = 30
"""How long a client that has closed its sending side waits for its answers at most. Long polls are
shorter, and a client that has closed both sides cannot be told from it.
"""

LINGER_S = 10
"""How long the peer of a connection that is closed here may take to read what was written before.
"""


NO_API = -1
"""The key of what is no request that is served."""


def shut_down(sock: socket.socket | asyncio.trsock.TransportSocket | None) -> None:
    """Ends a socket in every process that has it: a process that was forked has it, too. A
    transport with TLS that is closed has none any more."""
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


class ConnectionHost(Protocol):
    """The interface of the listener that a connection uses."""

    node: Node
    clock: Clock
    ids: count[int]
    moves: count[int]
    connections: set[ConnectionProtocol]
    paused: bool
    shapes: bool
    turns: RequestTurns

    def shape(self, protocol: ConnectionProtocol) -> None: ...

    def close_excess(self) -> None: ...

    def reschedule(self) -> None: ...


class Shaping(Protocol):
    """The interface of the fault rules that hold a connection's bytes. They also send in place of
    the socket."""

    holds_reading: bool

    @property
    def unsent(self) -> int: ...

    def send(self, buffers: Buffers) -> None: ...

    def end(self) -> None: ...

    def filled(self) -> None: ...

    def emptied(self) -> None: ...

    def rules_changed(self) -> None: ...

    def must_wait_to_close(self) -> bool: ...


class ConnectionProtocol(asyncio.Protocol):
    """The callbacks of asyncio for one connection."""

    transport: asyncio.Transport
    outgoing: Outgoing | TlsOutgoing | Shaping
    connection: Connection
    shaped: Shaping | None = None
    """What holds bytes under fault rules, while there are such rules."""

    def __init__(
        self, listener: ConnectionHost, spec: ListenerSpec, quotas: ConnectionQuotas, ended: Callable[[], None]
    ) -> None:
        self.listener, self._spec, self.quotas, self._on_end = listener, spec, quotas, ended
        self.moved_at = next(listener.moves)  # when bytes last moved, among all connections
        self.looks = 0  # since bytes last moved
        self.reads_on = True  # unless the listener is paused
        self._waits_for_turn = False
        self._ending = False  # once everything is sent
        # Ends a connection whose client has closed its sending side.
        self._give_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.outgoing = TlsOutgoing(transport, self) if self._spec.has_tls else Outgoing(transport, self)
        host, port = (transport.get_extra_info("peername") or ("?", 0))[:2]
        node = self.listener.node
        max_frame = node.settings.int("socket.request.max.bytes")
        peer = Peer(next(self.listener.ids), host, port, self._spec)
        self.connection = connection_of(node, peer, self, max_frame)
        self.listener.connections.add(self)
        log.debug("%r connected", peer)
        if self.quotas.is_protected and self.quotas.is_exceeded:
            self.listener.close_excess()
        if self.listener.paused:
            self.read_on(True)
        if self.listener.shapes:
            self.listener.shape(self)
        if self._spec.has_tls:
            self._set_principal(transport, peer)

    def _set_principal(self, transport: asyncio.Transport, peer: Peer) -> None:
        """Sets the principal from the client's certificate, or end the connection. With SASL the
        principal is that of the login."""
        if self._spec.security_protocol != "SSL":
            return
        from ..security.tls.principal_mapping import SETTING, NoMatchingRule, principal_of

        certificate = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        try:
            peer.principal = principal_of(certificate, self.listener.node.settings.text(SETTING))
        except NoMatchingRule as problem:
            self.connection.end(f"has no principal: {problem}")
        # Kafka gives no tokens to clients that TLS does not authenticate.
        peer.may_ask_for_tokens = bool(certificate)

    def write(self, buffers: Buffers) -> None:
        self.looks, self.moved_at = 0, next(self.listener.moves)
        self.outgoing.send(buffers)
        self._end_soon()

    def close(self) -> None:
        if self.shaped is not None and self.shaped.must_wait_to_close():
            return
        if not self.outgoing.unsent:
            self.transport.close()
            return
        self._ending = True
        asyncio.get_running_loop().call_later(LINGER_S, self.transport.abort)

    def cut(self) -> None:
        """Closes at once, and drops what was not sent yet."""
        # A transport with TLS that is closed has no socket; early releases of Python 3.11 raise.
        with suppress(AttributeError):
            shut_down(self.transport.get_extra_info("socket"))
        self.transport.abort()

    def read_on(self, reads_on: bool, /) -> None:
        self.reads_on = reads_on
        held = self.listener.paused or (self.shaped is not None and self.shaped.holds_reading)
        if (read := reads_on and not held) != self.transport.is_reading():
            (self.transport.resume_reading if read else self.transport.pause_reading)()
        self._end_soon()

    def others_first(self) -> None:
        if self._waits_for_turn or self.listener.paused:
            return
        self._waits_for_turn, backlog = True, self.connection.backlog
        api_key = int.from_bytes(backlog[0][:2]) if backlog else NO_API
        if api_key not in self._spec.apis:
            api_key = NO_API
        self.listener.turns.wait(api_key, len(backlog) > 1, self._go_on)

    def turn_is_over(self, ahead: bool) -> bool:
        return self.listener.paused or self.listener.turns.is_over(ahead)

    def _go_on(self) -> None:
        self._waits_for_turn = False
        if self.connection.node is self.listener.node:  # its files belong to the new node
            self.connection.pump(self.listener.clock.now())

    def note_move(self) -> None:
        """Bytes have moved."""
        self.looks, self.moved_at = 0, next(self.listener.moves)

    def data_received(self, data: bytes) -> None:
        self.looks, self.moved_at = 0, next(self.listener.moves)
        self.connection.receive(data, self.listener.clock.now())
        self.listener.reschedule()

    def eof_received(self) -> bool:
        """Keeps the connection open for answers that are owed. Kafka does not read a channel with a
        request under way, so it sees the end only after the answer. With TLS asyncio always ends
        both sides."""
        if self._spec.has_tls:
            return False
        if self.connection.owes_answers:
            self.limit_wait()
        else:
            self.close()
        return True

    def limit_wait(self) -> None:
        """Ends the connection when its client has waited for its answers for long enough."""
        if self._give_up is None:
            self._give_up = asyncio.get_running_loop().call_later(OWED_S, self.cut)

    def _end_soon(self) -> None:
        """Ends the connection after this step if its client sends nothing more."""
        if self._give_up is not None:
            asyncio.get_running_loop().call_soon(self._close_if_nothing_is_owed)

    def _close_if_nothing_is_owed(self) -> None:
        if not self.connection.owes_answers:
            self.close()

    def slow(self, unsent: int) -> None:
        self.connection.choke(unsent)

    def moved(self) -> None:
        self.looks = 0

    def drained(self) -> None:
        if self._ending:
            self.transport.close()
        else:
            self.connection.unchoke(self.listener.clock.now())
            self.listener.reschedule()

    def broken(self, problem: OSError) -> None:
        log.info("%r: %s", self.connection.peer, problem)
        self.cut()

    def pause_writing(self) -> None:  # where asyncio sends
        self.outgoing.filled()

    def resume_writing(self) -> None:
        self.moved()
        self.outgoing.emptied()

    def connection_lost(self, exc: Exception | None) -> None:
        self.listener.connections.discard(self)
        if self._give_up is not None:
            self._give_up.cancel()
        self.outgoing.end()
        self.connection.lost()
        self._on_end()
        log.debug("%r disconnected", self.connection.peer)


def connection_of(node: Node, peer: Peer, line: Line, max_frame: int) -> Connection:
    """The connection of a client, as its listener requires."""
    if peer.listener.has_sasl:
        from .sasl_connection import SaslConnection

        return SaslConnection(node, peer, line, max_frame)
    return Connection(node, peer, line, max_frame)
