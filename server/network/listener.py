"""The shell of one node: sockets and the event loop on one side, the node that knows neither on the
other.

Every call into the node is made on the loop's thread, with the clock's time, and is followed by a
look at its next deadline. `acceptor` accepts, asyncio reads, `outgoing` sends.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog

from ..faults import CONNECTION
from ..logs import flushing
from ..node import Node
from ..requests.timers import NEVER
from .acceptor import Acceptor
from .clock import AdvancingClock, Clock, seconds_of, stands_still
from .connection_protocol import ConnectionProtocol, shut_down
from .connection_quotas import ConnectionCounts, ConnectionQuotas, in_excess
from .peer_security import peer_security
from .turns import Asides, RequestTurns, work
from .watches import Watches

if TYPE_CHECKING:
    import ssl

    from ..requests.listener_spec import ListenerSpec
    from .key_fetches import KeyFetches
    from .peers import Peers

log = ClientLog("kafkadouble.server.network")

RETIRE_MS, LOOK_S = 2000, 0.005
"""How long a leader that stops tries to reach the others, and how often the shell looks whether it
has."""

LOOKS = 4
"""How often the shell looks for silent connections in the time after which they are closed: they
are closed at most a quarter of it too late."""


class Listener:
    """Serves one node on bound sockets, and owns them from `start` on. They are by the name of
    their listener."""

    def __init__(self, node: Node, clock: Clock, sockets: Mapping[str, socket.socket]) -> None:
        self.node, self.clock, self._sockets = node, clock, sockets
        self.connections: set[ConnectionProtocol] = set()
        self.ids, self.moves = count(1), count(1)
        self._acceptors: list[Acceptor] = []
        self._refusing: list[tuple[Acceptor, ListenerSpec]] = []  # all of them, as rules see them
        self._shut: list[Acceptor] = []  # those for clients, until the node is open
        self._settings = node.settings  # as they were last seen
        self._peers: list[Peers] = []  # once there are other nodes
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = NEVER  # when the timer is due, by the node's clock
        self._loop: asyncio.AbstractEventLoop | None = None  # from `start` to `stop`
        self._look: asyncio.TimerHandle | None = None  # for silent connections
        self._key_fetches: KeyFetches | None = None  # of a node with SASL, from `start` on
        self._flushes: set[asyncio.Future[list[flushing.FlushResult]]] = set()  # under way
        self.halted = asyncio.Event()
        """Set when the node says that it cannot go on."""
        self.on_halt: Callable[[], None] | None = None
        """Called then."""
        self.opened = asyncio.Event()
        """Set when clients are let in."""
        self.moved: Callable[[], None] | None = None
        """Called after each call into the node, where a cluster in the process carries its
        requests."""
        self.watches = Watches()
        """The waits for a state."""
        self.paused = False
        self.shapes = False
        """Whether there are fault rules for connections."""
        self.turns, self._asides = RequestTurns(self.reschedule), Asides(self._aside_done)
        node.waiting.aside = self._asides.add

    async def start(self) -> None:
        """Begins to accept. Until a broker is part of its cluster its clients are refused, as by
        Apache Kafka; where the socket listens already, they wait. UsageError if the keys of signed
        tokens cannot be fetched."""
        self._loop = self._asides.loop = asyncio.get_running_loop()
        await self._fetch_keys()
        counts = {False: ConnectionCounts(), True: ConnectionCounts()}  # by `is_of_controllers`
        for spec in [listener for listener in self.node.listeners if listener.name in self._sockets]:
            quotas = ConnectionQuotas(
                spec.name,
                lambda: self.node.settings,
                counts[spec.is_of_controllers],
                now=self.clock.now,
                address_limit=lambda host: self.node.quotas.address_limit(host),
            )
            acceptor = Acceptor(self._sockets[spec.name], partial(ConnectionProtocol, self, spec, quotas), quotas)
            if spec.has_tls:
                from .handshakes import Handshakes

                acceptor.handshakes = Handshakes(partial(self._context, spec.name), self.node.settings)
            self._acceptors.append(acceptor)
            self._refusing.append((acceptor, spec))
            if not (spec.is_of_controllers or self.node.is_open):
                self._shut.append(acceptor)
            else:
                acceptor.start()
        self.rules_changed()
        self.reschedule()
        self._look_for_silent()

    async def _fetch_keys(self) -> None:
        if not any(spec.has_sasl and spec.name in self._sockets for spec in self.node.listeners):
            return
        from .key_fetches import KeyFetches

        self._key_fetches = KeyFetches(self.clock.now, self.reschedule)
        await self._key_fetches.first(self.node, self._sockets)

    async def retire(self) -> None:
        """Hands the leadership of partitions and quorum to other nodes, and waits until they know,
        for some time of the machine's clock: the node's may stand still."""
        loop = asyncio.get_running_loop()
        node, end, end_s = self.node, self.clock.now() + RETIRE_MS, loop.time() + RETIRE_MS / 1000
        if not self._peers or node.halted is not None:
            return
        if node.lifecycle is not None:
            node.lifecycle.stop()
            while not (node.lifecycle.has_shut_down or loop.time() >= end_s or node.halted is not None):
                await asyncio.sleep(LOOK_S)
        node.quorum.retire(end)
        self.reschedule()
        while not node.quorum.is_retired and loop.time() < end_s:
            await asyncio.sleep(LOOK_S)

    async def stop(self) -> None:
        """Accepts no more, closes every connection, and finishes the flushes under way. Afterwards
        the ports are free, and the node is not called any more."""
        self._shut.clear()
        await asyncio.gather(*(peers.stop() for peers in self._peers))
        if self._key_fetches is not None:
            await self._key_fetches.stop()
        await self._close_sockets()
        await self._asides.stop()
        while self._flushes:
            await asyncio.wait(self._flushes)
        for timer in (self._timer, self._look):
            if timer is not None:
                timer.cancel()
        self._loop = None

    async def _close_sockets(self) -> None:
        for acceptor in self._acceptors:
            await acceptor.stop()
        for sock in self._sockets.values():
            shut_down(sock)
            sock.close()
        while self.connections:  # asyncio closes an aborted socket in the next round
            self.close_connections()
            await asyncio.sleep(0)

    @property
    def is_serving(self) -> bool:
        """Whether it was started, and not stopped since."""
        return self._loop is not None

    def close_connections(self) -> None:
        for protocol in list(self.connections):
            protocol.cut()

    def pause(self, paused: bool) -> None:
        """Reads nothing and begins nothing, or goes on; connections made meanwhile wait."""
        self.paused = paused
        for protocol in list(self.connections):
            protocol.read_on(protocol.reads_on)
            protocol.others_first()
        self.reschedule()

    def rules_changed(self) -> None:
        """Fault rules were armed or released: those for connections apply from now on."""
        self.shapes = bool(self.node.faults.register.by_plane[CONNECTION])
        for acceptor, spec in self._refusing:
            acceptor.refuses = partial(self._refuses, spec) if self.shapes else None
        for protocol in sorted(self.connections, key=lambda protocol: protocol.connection.peer.id):
            if protocol.shaped is not None:
                protocol.shaped.rules_changed()
            elif self.shapes and not protocol.transport.is_closing():
                self.shape(protocol)

    def shape(self, protocol: ConnectionProtocol) -> None:
        """Puts a connection under the fault rules for connections."""
        from .shaped_connection import ShapedConnection

        ShapedConnection(protocol)

    def _refuses(self, spec: ListenerSpec) -> bool:
        from .shaped_connection import is_refused

        refused = is_refused(self.node, spec, self.clock.now())
        self.reschedule()
        return refused

    def replace(self, node: Node) -> None:
        """Serves another node from now on, with the same listeners; every connection is closed."""
        self.close_connections()
        if self._key_fetches is not None:
            node.sasl.remote_keys.keep(self.node.sasl.remote_keys)
        self.node = node
        self.rules_changed()
        node.waiting.aside = self._asides.add
        for peers in self._peers:
            peers.forget()
        self._peers.clear()
        self.reschedule()

    def advance(self, clock: AdvancingClock, milliseconds: int) -> None:
        """Advances the clock of the node, and stops wherever something is due."""
        end = clock.now() + milliseconds
        while (deadline := self.node.next_deadline()) is not None and deadline <= end:
            clock.advance(max(0, deadline - clock.now()))
            self._pass()
        clock.advance(end - clock.now())
        self._pass()

    def _pass(self) -> None:
        self.node.tick(self.clock.now())
        self.reschedule()

    def reschedule(self) -> None:
        """Sets the timer of the next tick; if the clock stands still, only for a tick that is due
        now."""
        if self.watches.checks:
            self.watches.due()
        if self.paused:
            return
        if self.node.halted is not None:
            self._halt()
        if not self.opened.is_set() and self.node.is_open:
            self._open()
        if self.node.settings is not self._settings:
            self._settings = self.node.settings
            self._settings_changed()
        if self.node.flushing.due:
            self._flush()
        if self.node.channels:
            self._speak()
        if self._key_fetches is not None and self._loop is not None:
            self._key_fetches.look(self.node)
        deadline = self.node.next_deadline()
        if deadline is None or deadline >= self._timer_due or self._loop is None:
            return
        now = self.clock.now()
        if deadline > now and stands_still(self.clock):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = deadline
        delay = 0 if deadline <= now else seconds_of(self.clock, deadline - now)
        self._timer = self._loop.call_later(delay, self.tick)

    def clock_changed(self) -> None:
        """Sets the timers again: the clock stands still, goes on, or goes faster or slower."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_due = None, NEVER
        for peers in self._peers:
            peers.clock_changed()
        self.reschedule()

    def _settings_changed(self) -> None:
        """Closes connections beyond a lowered limit; accepts more under a raised one. New
        connections have the certificates and the logins that the settings have now."""
        if self.node.tls is not None:
            self.node.tls.reload(self.node.settings)
        for peers, channel in zip(self._peers, self.node.channels, strict=False):
            peers.security = peer_security(self.node.settings, channel.is_to_controllers, peers.security)
        self.close_excess()
        for acceptor in self._acceptors:
            acceptor.look_again()

    def _context(self, listener_name: str) -> ssl.SSLContext:
        assert self.node.tls is not None
        return self.node.tls.context(listener_name)

    def close_excess(self) -> None:
        """Closes the connections beyond the limits, the least recently used first."""
        for protocol in in_excess(self.connections):
            quotas = protocol.quotas
            log.info("%r is closed: %r, and %d may be", protocol.connection.peer, quotas, quotas.most)
            protocol.cut()

    def _speak(self) -> None:
        """Sends the requests of the node to other nodes."""
        if self.moved is not None:
            self.moved()
            return
        if self._peers or self._loop is None:
            for peers in self._peers:
                peers.pump()
            return
        from .peers import Peers

        for channel in self.node.channels:
            peers = Peers(
                channel.channel,
                self.clock,
                client_id=channel.client_id,
                timeout_ms=self.node.settings.int(channel.timeout),
                moved=self.reschedule,
                security=peer_security(self.node.settings, channel.is_to_controllers),
            )
            self._peers.append(peers)
        for peers in list(self._peers):
            peers.start()

    def _open(self) -> None:
        """Accepts clients from now on, not from the loop's next round."""
        self.opened.set()
        shut, self._shut = self._shut, []
        for acceptor in shut:
            acceptor.start()

    def _halt(self) -> None:
        """A node that cannot go on serves no client."""
        self.close_connections()
        if not self.halted.is_set():
            self.halted.set()
            if self.on_halt is not None:
                self.on_halt()

    def _flush(self) -> None:
        """Flushes what the node has to flush, on another thread, once there is a loop. With a clock
        that stands still a flush takes no time, and is done when this returns."""
        jobs = [] if self._loop is None else self.node.flushing.begin()
        if self.node.logs.failures:
            self.node.tick(self.clock.now())
        if not jobs or self._loop is None:
            return
        try:
            done = None if stands_still(self.clock) else self._loop.run_in_executor(None, flushing.run, jobs)
        except RuntimeError:  # the interpreter ends, and starts no threads any more
            done = None
        if done is None:
            self._end_flush(self.node, jobs, flushing.run(jobs))
            return
        self._flushes.add(done)
        done.add_done_callback(partial(self._flushed, self.node, jobs))

    def _flushed(
        self, node: Node, jobs: Sequence[flushing.FlushJob], done: asyncio.Future[list[flushing.FlushResult]]
    ) -> None:
        self._flushes.discard(done)
        results = done.result()
        if node is self.node:  # the files of a node that was replaced belong to the new one
            self._end_flush(node, jobs, results)

    def _end_flush(
        self, node: Node, jobs: Sequence[flushing.FlushJob], results: Sequence[flushing.FlushResult]
    ) -> None:
        if node.flushing.slow_ms:  # by a fault rule
            due = self.clock.now() + node.flushing.slow_ms
            node.waiting.timers.at(due, lambda now: node.flushing.end(jobs, results))
        else:
            node.flushing.end(jobs, results)
            node.tick(self.clock.now())
        self.reschedule()

    def tick(self) -> None:
        """Ticks the node."""
        self._timer, self._timer_due = None, NEVER
        if not self.paused:
            work(lambda: self.node.tick(self.clock.now()), lambda: self.node.waiting.is_busy)
        self.reschedule()

    def _aside_done(self) -> None:
        if self._loop is not None:
            self.reschedule()

    def _look_for_silent(self) -> None:
        """Closes the connections on which nothing has moved for `connections.max.idle.ms`, by the
        machine's clock. A peer that has left may not be noticed while nothing is read from it."""
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
