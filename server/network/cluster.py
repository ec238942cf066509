"""The shell of several nodes in one process: one event loop, one listener for each node, and the
links between the nodes.

Rules. Everything is called on the loop's thread. Every call of a node is followed by `moved`, which
its listener calls; what follows from it on other nodes happens soon, or at once by `settle`. Nodes
of other processes are reached over sockets. With a stepped clock, time passes for all members in
order, and everything that they send to one another is delivered in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..requests.timers import NEVER
from .clock import AdvancingClock, Clock, seconds_of, stands_still
from .in_process import InProcessLinks, RemoteChannel
from .peer_security import peer_security

if TYPE_CHECKING:
    from ..faults.armed import Armed
    from .listener import Listener
    from .peers import Peers

TURNS = 100
"""Deliveries in one `settle`: nodes may exchange requests without end, and time has to pass."""

LOOK_S, STEP_MS = 0.001, 5
"""The interval in which `until` looks again, by a clock that runs, and by a stepped one."""


class InProcessCluster:
    """The members' listeners, by the ids of their nodes."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.links = clock, InProcessLinks()
        self.listeners: dict[int, Listener] = {}
        self._loop = asyncio.get_running_loop()
        self._peers: dict[RemoteChannel, Peers] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = NEVER  # when the timer is due
        self._is_due = self._settling = False

    def join(self, listener: Listener) -> None:
        """Adds a member, which the others reach where its listeners are advertised."""
        id = listener.node.id
        self.leave(id)
        self.links.join(listener.node)
        self.listeners[id], listener.moved = listener, self.moved
        self.moved()

    def leave(self, id: int) -> None:
        """Removes a member. It is not called any more."""
        self.listeners.pop(id, None)
        for each in self.links.remote.get(id, ()):
            peers = self._peers.pop(each, None)
            if peers is not None:
                peers.forget()
        self.links.leave(id, self.clock.now())
        self.moved()

    def rules_changed(self, rules: Sequence[Armed]) -> None:
        """Fault rules for links were armed or released; `rules` are those in force."""
        if self.links.faults is None and rules:
            from .link_faults import LinkFaults

            self.links.faults = LinkFaults(rules)
        if self.links.faults is not None:
            self.links.faults.forget_released()
        self.moved()

    def moved(self) -> None:
        """A node was called."""
        if not (self._is_due or self._settling):
            self._is_due = True
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        self._is_due = False
        if self._move():
            self.moved()

    def settle(self) -> None:
        """Delivers until nothing moves. No time passes."""
        for _ in range(TURNS):
            if not self._move():
                return

    def _move(self) -> bool:
        if self._settling:
            return False
        self._settling = True
        try:
            more = self.links.deliver(self.clock.now())
            for listener in list(self.listeners.values()):
                listener.reschedule()
        finally:
            self._settling = False
        for channels in self.links.remote.values():
            for channel in channels:
                if channel.waiting:
                    self._peers_of(channel).pump()
        self._reschedule()
        return more

    def _peers_of(self, channel: RemoteChannel) -> Peers:
        peers, settings = self._peers.get(channel), channel.node.settings
        if peers is not None and settings is not channel.secured_by:
            peers.security = peer_security(settings, channel.is_to_controllers, peers.security)
        channel.secured_by = settings
        if peers is None:
            from .peers import Peers

            peers = self._peers[channel] = Peers(
                channel,
                self.clock,
                client_id=channel.name,
                timeout_ms=channel.timeout_ms,
                moved=self.moved,
                security=peer_security(settings, channel.is_to_controllers),
            )
            peers.start()
        return peers

    def _reschedule(self) -> None:
        deadline = self.links.next_deadline()
        if deadline is None or deadline >= self._timer_due or stands_still(self.clock):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = deadline
        self._timer = self._loop.call_later(seconds_of(self.clock, max(1, deadline - self.clock.now())), self._tick)

    def clock_changed(self) -> None:
        """Sets the timers again: the clock stands still, goes on, or goes faster or slower."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_due = None, NEVER
        for peers in self._peers.values():
            peers.clock_changed()
        for listener in list(self.listeners.values()):
            listener.clock_changed()
        self.moved()

    def _tick(self) -> None:
        self._timer, self._timer_due = None, NEVER
        self.links.tick(self.clock.now())
        self._go_on()

    def advance(self, clock: AdvancingClock, milliseconds: int) -> None:
        """Advances the clock, and stops wherever something is due for a member."""
        end = clock.now() + milliseconds
        self.settle()
        while (deadline := self._next_deadline()) <= end:
            waited = max(0, deadline - clock.now())
            clock.advance(waited)
            self._pass(clock.now())
            if not waited and self._next_deadline() <= clock.now():
                if clock.now() >= end:
                    break
                clock.advance(1)
        clock.advance(max(0, end - clock.now()))
        self._pass(end)

    def _pass(self, now: int) -> None:
        self.links.tick(now)
        self.settle()

    def _next_deadline(self) -> int:
        nodes = [at for node in self.links.running() if (at := node.next_deadline()) is not None]
        return min((*nodes, self.links.next_deadline() or NEVER))

    async def until(self, holds: Callable[[], bool], milliseconds: int) -> bool:
        """Whether this holds within so much time. A clock that stands still is advanced for as long
        as it takes."""
        self.settle()
        end = self.clock.now() + milliseconds
        while not holds():
            if self.clock.now() >= end:
                return False
            if isinstance(self.clock, AdvancingClock) and stands_still(self.clock):
                self.advance(self.clock, STEP_MS)
                await asyncio.sleep(0)
            else:
                await asyncio.sleep(LOOK_S)
        return True

    async def stop(self) -> None:
        """Delivers nothing any more."""
        for id in list(self.listeners):
            self.leave(id)
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = 0

    def __repr__(self) -> str:
        return repr(self.links)
