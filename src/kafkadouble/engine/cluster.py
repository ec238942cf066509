"""Several brokers of one process: a hidden controller, and behind each port a broker that has it as
its controller.

Rules. Everything here runs on the loop's thread. The brokers have the ids from 1 on, the controller
one beyond them. A `Cluster` has the interface of a `Broker`. The ports of a broker that does not
run are held, so that no other process gets them. History and fault rules are those of all brokers
together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.faults import LINK
from kafkadouble.server.faults.register import RuleRegister
from kafkadouble.server.network.clock import AdvancingClock, Clock, stands_still
from kafkadouble.server.network.cluster import InProcessCluster
from kafkadouble.server.network.listener import RETIRE_MS
from kafkadouble.server.network.watches import Watches
from kafkadouble.server.node import Node
from kafkadouble.server.tracing.history import History
from kafkadouble.server.tracing.member_fetches import MemberFetches

from .broker import Broker
from .cluster_member import ClusterMember
from .cluster_view import ClusterView
from .data.member_data import BROKER, CONTROLLER, OnDisk, check_count, data_of
from .member_settings import check, of_broker, of_controller
from .node_listeners import BoundListeners, address_on

if TYPE_CHECKING:
    from kafkadouble.server.broker.client_metrics_manager import TelemetryExporter
    from kafkadouble.server.requests.listener_spec import ListenerSpec
    from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck
    from kafkadouble.server.tracing.capture import Capture

START_MS = 60_000
"""How long brokers may take to be part of the cluster: longer than a session, which an earlier life
may have left."""


class Cluster(ClusterView):
    """`listeners` are those of each broker, and at last of the controller; the rest is as for
    `Broker`."""

    def __init__(
        self,
        settings: Settings,
        listeners: Sequence[BoundListeners],
        clock: Clock,
        *,
        seed: int | None = None,
        history: bool = True,
        peer_requests: bool = False,
        data_dirs: Sequence[str] = (),
        capture: Capture | None = None,
        telemetry: TelemetryExporter | None = None,
        token_check: TokenCheck | None = None,
    ) -> None:
        check(settings)
        self._capture, self._telemetry, self._token_check = capture, telemetry, token_check
        self.clock, self._seed, self._keeps_history = clock, seed, history
        self._history, self._rules = History(peers=peer_requests), RuleRegister()
        self._member_fetches = MemberFetches()
        self._history.topic_names.look_at(self)
        self.in_process = InProcessCluster(clock)
        self.watches = Watches()
        *own, controllers = listeners
        self._controllers, self._count = _reachable(controllers, own[0].specs), len(own)
        self._at = address_on(self._controllers.specs, None)
        self._settings = of_controller(settings, self._count)
        check_count(data_dirs, self._count)
        self._given, self._data_dirs = settings, data_dirs
        self._data = data_of(data_dirs, CONTROLLER, self._count + 1, clock.now(), None)
        self.members_by_id: dict[int, ClusterMember] = {}
        self.removed: dict[int, ClusterMember] = {}
        """Members that are no longer part of the cluster; their ports are held until a reset."""
        try:
            self.controlling = self._new_controller()
            for id, each in enumerate(own, 1):
                self.add_member(id, each)
        except BaseException:
            self._release()
            raise

    def add_member(self, id: int, listeners: BoundListeners) -> ClusterMember:
        """A new member, which does not run yet. UsageError for a directory that cannot be had."""
        data = data_of(self._data_dirs, f"{BROKER}{id}", id, self.clock.now(), self.cluster_id)
        settings = of_broker(self._given, id, self._count, self._at)
        self.members_by_id[id] = ClusterMember(id, settings, listeners, data)
        return self.members_by_id[id]

    def drop_member(self, member: ClusterMember) -> None:
        """A member that does not run is none any more; its ports and directories are free."""
        self.members_by_id.pop(member.id, None)
        self.removed.pop(member.id, None)
        member.listeners.close()
        member.data.release()

    def is_initial(self, id: int) -> bool:
        """Whether the cluster began with this broker."""
        return id <= self._count

    def _release(self) -> None:
        """Unlocks the data directories."""
        for data in (self._data, *(member.data for member in (*self.members_by_id.values(), *self.removed.values()))):
            data.release()

    def _new_controller(self) -> Broker:
        broker = Broker(
            self._settings,
            self._controllers,
            self.clock,
            seed=self._seed,
            history=False,
            data=self._data,
            capture=self._capture,
        )
        broker.listener.watches = self.watches
        self._attach(broker.node)
        return broker

    def _attach(self, node: Node) -> None:
        """Shares the fault rules and the history with a node."""
        node.faults.share(self._rules)
        if self._keeps_history:
            node.trace.subscribe_all(self._history, self._member_fetches)

    @property
    def is_serving(self) -> bool:
        """Whether it was started, and not stopped since."""
        return self.controlling.is_serving

    def rules_changed(self) -> None:
        """Fault rules were armed or taken out of force."""
        running = [member.broker for member in self.members_by_id.values() if member.broker is not None]
        for broker in (self.controlling, *running):
            broker.rules_changed()
        self.in_process.rules_changed(self._rules.by_plane[LINK])

    async def start(self) -> None:
        """Starts all brokers and waits until they have joined the cluster. Raises UsageError if
        they cannot."""
        self.in_process.join(self.controlling.listener)
        await self.controlling.start()
        for member in self.members_by_id.values():
            await self.begin(member)
        if not await self.joined():
            raise UsageError(f"not all brokers are part of the cluster within {START_MS} ms: {self!r}")

    async def joined(self) -> bool:
        """Whether all brokers are part of the cluster in time."""
        return await self.in_process.until(lambda: self.is_joined(self.members_by_id), START_MS)

    def is_joined(self, ids: Iterable[int]) -> bool:
        """Whether these brokers run, are part of the cluster and have read its metadata. UsageError
        for one that cannot go on."""
        running = [self.members_by_id[id].broker for id in ids]
        nodes = [broker.node for broker in running if broker is not None]
        halted = [node.halted for node in nodes if node.halted is not None]
        if halted:
            raise UsageError(halted[0])
        live = {broker.id for broker in self.image.live_brokers()}
        return len(nodes) == len(running) and all(
            node.id in live and node.image.end == self.image.end for node in nodes
        )

    async def begin(self, member: ClusterMember) -> None:
        """Starts a broker that does not run."""
        await self._ended(member)
        if member.broker is not None:
            return
        seed = None if self._seed is None else self._seed + member.id
        broker = Broker(
            member.settings,
            member.listeners,
            self.clock,
            seed=seed,
            history=False,
            data=member.data,
            capture=self._capture,
            telemetry=self._telemetry,
            token_check=self._token_check,
        )
        broker.listener.watches = self.watches
        self._attach(broker.node)
        member.broker, broker.listener.on_halt = broker, partial(self._halted, member)
        self.in_process.join(broker.listener)  # before it speaks for itself
        await broker.start()

    def _halted(self, member: ClusterMember) -> None:
        """The node of a broker cannot go on, and its process would have ended now."""
        self.in_process.leave(member.id)
        member.ending = asyncio.get_running_loop().create_task(self._end(member, in_order=False))

    async def _ended(self, member: ClusterMember) -> None:
        """Waits for the end of a broker that ended by itself."""
        ending, member.ending = member.ending, None
        if ending is not None:
            await ending

    async def end(self, member: ClusterMember, *, in_order: bool) -> None:
        """Ends a broker that runs: in order, so that others take over what it leads, or without a
        word."""
        await self._ended(member)
        await self._end(member, in_order=in_order)

    async def _end(self, member: ClusterMember, *, in_order: bool) -> None:
        broker = member.broker
        await self._close(member, in_order=in_order)
        if broker is not None:
            broker.give_up()

    async def _close(self, member: ClusterMember, *, in_order: bool) -> None:
        """Closes the members. Without `give_up`, pending requests are left to the thread, which
        cancels them."""
        broker = member.broker
        if broker is None:
            return
        if in_order:
            self.pause(member, False)
            await self.hand_over([member])
        elif member.is_paused:  # it does not go on before it ends
            member.is_paused = False
            self.in_process.links.resume(member.id)
        self.in_process.leave(member.id)
        member.broker = None
        await broker.listener.stop()
        member.hold()
        if in_order:
            broker.node.close(self.clock.now())
        else:
            broker.node.abandon()
            member.data.killed(broker.node.logs, self.clock.now())
        self.in_process.settle()

    async def hand_over(self, members: Iterable[ClusterMember]) -> None:
        """Hands the leadership of these brokers to others; if these are all, no broker leads. It is
        done when the other brokers have acknowledged it."""
        reached = [member.broker for member in members if member.broker is not None and not member.is_isolated]
        leaving = [broker for broker in reached if not _is_over(broker.node)]
        for broker in leaving:
            if broker.node.lifecycle is not None:
                broker.node.lifecycle.stop()
        longest = max((each.node.settings.int("broker.heartbeat.interval.ms") for each in leaving), default=0)
        await self.in_process.until(lambda: _have_left(leaving), longest + RETIRE_MS)

    def pause(self, member: ClusterMember, paused: bool) -> None:
        """Pauses or resumes a broker."""
        if member.broker is None or member.is_paused == paused:
            return
        member.is_paused = paused
        links = self.in_process.links
        (links.pause if paused else links.resume)(member.id)
        member.broker.listener.pause(paused)
        if not paused:
            member.broker.settle()
        self.settle()

    def isolate(self, member: ClusterMember, isolated: bool) -> None:
        """Cuts a broker off from the other nodes, or no longer."""
        member.is_isolated = isolated
        links = self.in_process.links
        (links.isolate if isolated else links.rejoin)(member.id)
        self.settle()

    async def stop(self) -> None:
        """Ends everything; in order where something is kept."""
        members = self.members_by_id.values()
        for member in members:
            self.pause(member, False)
        in_order = isinstance(self._data, OnDisk)
        if in_order:
            await self.hand_over(members)
        for member in members:
            await self._ended(member)
            await self._close(member, in_order=in_order)
        for member in (*members, *self.removed.values()):
            member.listeners.close()
        await self.in_process.stop()
        await self.controlling.listener.stop()
        self.controlling.node.close(self.clock.now())
        self._release()

    async def reset(self) -> None:
        """Restarts the cluster empty, on the same ports, with every broker running; its id
        stays."""
        from . import cluster_restart  # after a reset alone

        await cluster_restart.reset(self)

    async def replace_controller(self, replacing: Awaitable[None]) -> None:
        """Replaces the controller by a node without fault rules and requests."""
        self.in_process.leave(self.controlling.node.id)
        self._history.clear()
        self._history.clear_peers()
        self._member_fetches.clear()
        self.controlling.node.faults.clear()
        self._rules.forget()
        await replacing
        self._attach(self.controlling.node)
        self.in_process.join(self.controlling.listener)

    def settle(self) -> None:
        """Carries what can be carried now."""
        self.in_process.settle()

    def advance(self, clock: AdvancingClock, milliseconds: int) -> None:
        """Advances the clock of all nodes."""
        self.in_process.advance(clock, milliseconds)

    def clock_changed(self) -> None:
        """Sets the timers again."""
        self.in_process.clock_changed()

    def ask(self, body: Message, at: Broker | None = None) -> Future[Any]:
        """The answer of a broker, of any unless one is named. KafkaError(REQUEST_TIMED_OUT) when
        that takes time, and the clock stands still."""
        nodes = [*self.in_process.links.running()]
        with ExitStack() as stack:
            for node in nodes:
                stack.enter_context(node.waiting.asides_at_once())
            answer = (at or self.any_broker).ask(body)
            self.settle()
            while not answer.done() and (busy := [node for node in nodes if node.waiting.is_busy]):
                for node in busy:
                    node.tick(self.clock.now())
                self.settle()
        if not answer.done() and stands_still(self.clock):
            problem = "this takes time, and the clock is stopped: the request may complete when the clock is advanced"
            raise KafkaError(error_codes.REQUEST_TIMED_OUT, problem)
        return answer

    def __repr__(self) -> str:
        return f"cluster {self.cluster_id} of {', '.join(map(repr, self.members_by_id.values()))}"


def _reachable(controllers: BoundListeners, brokers: Sequence[ListenerSpec]) -> BoundListeners:
    """The controller's listeners. Without a socket the first has an address that only nodes of this
    process know."""
    if controllers.sockets:
        return controllers
    first, *others = controllers.specs
    at = address_on(brokers, None)[0], 0
    return controllers._replace(specs=(first._replace(advertised=at), *others))


def _is_over(node: Node) -> bool:
    return node.halted is not None or node.lifecycle is None or node.lifecycle.has_shut_down


def _have_left(brokers: Iterable[Broker]) -> bool:
    """Whether all of them may end. One that may answers nothing any more: the cluster that it sees
    has no such broker, and a client that reads a cluster without any broker finds none again."""
    over = [broker for broker in brokers if _is_over(broker.node)]
    for broker in over:
        broker.listener.pause(True)
    return over == list(brokers)
