"""A connection under fault rules: it stands between the transport and its ConnectionProtocol, in
both directions, and lets bytes pass when the rules let them.

Rules. It is put in when a rule is armed, or when a connection begins under one, and takes itself
out when no rule is left and everything has passed: a connection without rules has no part of this.
Every call from outside of the node is followed by `reschedule` of the listener.
Time is the node's. The number of held bytes is bounded: beyond that, the client is not read, and
its next request is not begun. While a connection is half-open, its socket is not read at all, so
that the client cannot even close it.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from ..faults import CONNECTION
from ..faults.armed import Armed
from ..faults.connection_actions import RefuseConnections
from ..faults.match import Match
from ..faults.shaped_line import IN, OUT, ShapedLine
from ..requests.listener_spec import ListenerSpec
from ..requests.timers import Timer
from .outgoing import MUCH, Outgoing
from .tls_outgoing import TlsOutgoing

if TYPE_CHECKING:
    from ..node import Node
    from .connection_protocol import ConnectionProtocol

RESET_ON_CLOSE = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
"""SO_LINGER without time: closing the socket resets the connection."""


def concerns(match: Match, node: Node, spec: ListenerSpec) -> bool:
    """Whether a rule is about connections to this listener of the node. A rule that names no
    listener is about clients."""
    return match.broker in (None, node.id) and (
        not spec.is_of_controllers if match.listener is None else match.listener == spec.name
    )


def is_refused(node: Node, spec: ListenerSpec, now: int) -> bool:
    """Whether a rule refuses the connection that was just accepted."""
    for armed in list(node.faults.register.by_plane[CONNECTION]):
        is_about = isinstance(armed.rule.action, RefuseConnections) and concerns(armed.rule.match, node, spec)
        if is_about and armed.applies(now):
            return True
    return False


def reset_on_close(sock: socket.socket | asyncio.trsock.TransportSocket | None) -> None:
    """Makes the close of the socket a reset for the peer."""
    if sock is not None:  # None: the socket of a transport with TLS, which is closed
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)


class ShapedConnection(asyncio.Protocol):
    """The rules of one connection. It is the protocol of the transport, and the `outgoing` of the
    ConnectionProtocol, in their places."""

    def __init__(self, protocol: ConnectionProtocol) -> None:
        self._protocol, self._node = protocol, protocol.listener.node
        assert isinstance(protocol.outgoing, Outgoing | TlsOutgoing)
        self._sending = protocol.outgoing
        rules = self._node.faults.register.by_plane[CONNECTION]
        self._rules: Sequence[Armed] = rules
        self._line = ShapedLine(rules, self._concerns)
        self._timer: Timer | None = None
        self._is_slow = self._is_moving = self._moves_again = self._has_ended = False
        self._has_left = False  # the client has closed its side
        self.holds_reading = False
        """Whether the socket is not to be read."""
        self._sending.reader = self
        protocol.outgoing = protocol.shaped = self
        protocol.transport.set_protocol(self)

    def _concerns(self, match: Match) -> bool:
        connection = self._protocol.connection
        head = connection.last_head
        is_of_client = match.client_id is None or (head is not None and head.client_id == match.client_id)
        is_of_client = is_of_client and match.principal in (None, connection.peer.principal)
        return is_of_client and concerns(match, self._node, connection.peer.listener)

    @property
    def _now(self) -> int:
        return self._protocol.listener.clock.now()

    def rules_changed(self) -> None:
        """Rules were armed or released."""
        self._line.forget_released()
        self._move()
        self._protocol.listener.reschedule()

    # As the protocol of the transport.

    def data_received(self, data: bytes) -> None:
        self._protocol.note_move()
        self._line.put(IN, data, self._now)
        self._move()
        self._protocol.listener.reschedule()

    def eof_received(self) -> bool:
        self._has_left = True
        self._line.begin_close(self._now)
        self._protocol.limit_wait()
        self._move()
        self._protocol.listener.reschedule()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        self._sending.filled()

    def resume_writing(self) -> None:
        self.moved()
        self._sending.emptied()

    # As what the ConnectionProtocol sends on.

    @property
    def unsent(self) -> int:
        """Bytes that are held, or that the socket did not take yet."""
        return self._sending.unsent + self._line.size(OUT)

    def send(self, buffers: Sequence[Buffer | FileSlice]) -> None:
        parts = [buffer.read() if isinstance(buffer, FileSlice) else buffer for buffer in buffers]
        self._line.put(OUT, b"".join(parts), self._now)
        if (unsent := self.unsent) > MUCH:
            self.slow(unsent)
        self._move()

    def end(self) -> None:
        """Sends nothing any more, and drops what was not sent."""
        self._has_ended = True
        self._sending.end()
        self._set_timer(None)

    def filled(self) -> None:
        """Asyncio reports to `pause_writing` here."""

    def emptied(self) -> None:
        """Asyncio reports to `resume_writing` here."""

    # As the reader of what is sent.

    def slow(self, unsent: int) -> None:
        self._is_slow = True
        self._protocol.slow(unsent)

    def moved(self) -> None:
        self._protocol.moved()

    def drained(self) -> None:
        if not self._line.size(OUT):
            self._is_slow = False
            self._protocol.drained()

    def broken(self, problem: OSError) -> None:
        self._protocol.broken(problem)

    # What the rules do.

    def must_wait_to_close(self) -> bool:
        """Whether the connection is closed later, and then by another call of `close`."""
        self._line.begin_close(self._now)
        self._set_timer(self._next_deadline())
        return not self._may_close()

    def _may_close(self) -> bool:
        now, line = self._now, self._line
        if line.closes_at is None or now < line.closes_at or line.is_half_open(now):
            return False
        if self._has_left and (line.size(IN) or self._protocol.connection.owes_answers):
            return False
        return not line.size(OUT)

    def _move(self) -> None:
        """Delivers the bytes that the rules allow now. The call in which a request passed handles
        it."""
        if self._is_moving:
            self._moves_again = True
            return
        self._is_moving = self._moves_again = True
        try:
            while self._moves_again and not self._has_ended:
                self._moves_again = False
                for piece in self._line.take(OUT, self._now):
                    self._sending.send([piece])
                for piece in self._line.take(IN, self._now):
                    self._protocol.connection.receive(bytes(piece), self._now)
                if self._line.is_reset(self._now):
                    transport = self._protocol.transport
                    reset_on_close(transport.get_extra_info("socket"))
                    self.end()
                    transport.abort()
        finally:
            self._is_moving = False
        if not self._has_ended:
            self._settle()

    def _settle(self) -> None:
        """Does what follows from what is held now."""
        if self._is_slow and not self.unsent:
            self.drained()
        if self._may_close():
            self._set_timer(None)
            self._protocol.close()
            return
        holds = self._line.is_half_open(self._now) or self._line.size(IN) > MUCH
        if holds is not self.holds_reading:
            self.holds_reading = holds
            self._protocol.read_on(self._protocol.reads_on)
        if not (self._rules or self._line.size(IN) or self._line.size(OUT) or self._line.closes_at is not None):
            self._set_timer(None)
            protocol = self._protocol
            self._sending.reader = protocol
            protocol.outgoing, protocol.shaped = self._sending, None
            protocol.transport.set_protocol(protocol)
        else:
            self._set_timer(self._next_deadline())

    def _next_deadline(self) -> int | None:
        now = self._now
        found, closes_at = self._line.next_deadline(now), self._line.closes_at
        if closes_at is None or closes_at <= now:
            return found
        return closes_at if found is None else min(found, closes_at)

    def _set_timer(self, deadline: int | None) -> None:
        if self._timer is not None and self._timer.action is not None:
            if self._timer.deadline == deadline:
                return
            self._timer.cancel()
        self._timer = None if deadline is None else self._node.waiting.timers.at(deadline, self._timed)

    def _timed(self, now: int) -> None:
        self._timer = None
        self._move()

    def __repr__(self) -> str:
        return f"{self._protocol.connection.peer!r} under rules: {self._line!r}"
