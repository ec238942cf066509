"""One node of the simulated cluster: a whole node, with its handlers and codecs, whose timers and
connections belong to the simulation.

It may be a controller, a broker, or both. It is killed, loses its power, hangs, shuts down cleanly,
and starts again on the files of its machine. After every step the simulation collects its requests,
its flushes and the time of its next tick; and the watchers check it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages import registry
from kafkadouble.messages.message import Message
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.logs import flushing
from kafkadouble.server.network.listener import RETIRE_MS
from kafkadouble.server.node import Node
from kafkadouble.server.raft.request_manager import OutboundRequest, RequestFailure
from kafkadouble.server.requests.listener_spec import ListenerSpec
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.requests.waiting import HandlerTask
from tests.support.listeners import BROKER, CONTROLLER, listeners_of

from ..world import Broken, Event
from .machine import Machine
from .nodes import CLIENT_PORT, PORT, address
from .shape import REQUEST_MS

if TYPE_CHECKING:
    from .nodes import Nodes


class Connection(NamedTuple):
    """One connection at its node, with the requests that wait there."""

    peer: Peer
    tasks: list[HandlerTask]


class Member:
    """The node `id`. `disk_ms` is the time a flush takes."""

    def __init__(self, cluster: Nodes, id: int, machine: Machine, settings: Mapping[str, object]) -> None:
        self.cluster, self.world, self.id, self.machine = cluster, cluster.world, id, machine
        self.is_controller, self.is_broker = id in cluster.shape.controller_ids, id in cluster.shape.broker_ids
        self._settings, self._seed = settings, cluster.world.seed * 100 + id
        self.node: Node | None = None
        self.is_paused = self.is_stopping = False
        self.disk_ms = 0
        self._retires_until = 0  # a node that shuts down waits for others until then
        self._is_retiring = False  # it notifies the other controllers of its shutdown
        self._held: list[Callable[[], None]] = []  # what arrives while it hangs
        self._wake: Event | None = None
        # Callbacks that are called when the process dies.
        self._unanswered: dict[int, Callable[[], None]] = {}
        self._numbers = count(1)
        self._connections: dict[tuple[int, str], Connection] = {}  # by sender and listener
        self._is_touching = False

    @property
    def is_up(self) -> bool:
        return self.node is not None

    def start(self) -> None:
        if self.node is not None:
            return
        self.is_paused = self.is_stopping = False
        self._is_retiring = False
        given, now = Settings(self._settings), self.world.now
        controller = address(self.id) if self.is_controller else None
        client_port = CLIENT_PORT if self.is_controller and self.is_broker else PORT
        self.world.note("{} starts", self.id)
        self.node = Node(
            given,
            listeners=listeners_of(given, address(self.id, client_port), controller),
            now=now,
            seed=self._seed,  # the seed of all its runs, of which each must make other choices
            logs=self.machine.logs(),
            history=False,
        )
        self.cluster.watch.started(self)
        self._touched()

    def kill(self) -> None:
        """The process ends; its connections break."""
        if self.node is not None:
            self.world.note("{} is killed", self.id)
            self.cluster.watch.deaths += 1
            self._forget_node()
            self.machine.killed()
            for lost in self._unanswered.values():
                self.world.after(self.world.random.randint(0, 3), lost)

    def lose_power(self) -> None:
        """The machine loses its power; no peer is notified."""
        self.world.note("{} loses its power", self.id)
        self.cluster.watch.loses_power(self)
        self._forget_node()
        self.machine.power_lost(self.world.random)

    def _forget_node(self) -> None:
        self.node = None
        self._held.clear()
        self._connections.clear()
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None

    def pause(self) -> None:
        if self.node is not None and not self.is_paused:
            self.world.note("{} hangs", self.id)
            self.is_paused = True

    def resume(self) -> None:
        if self.is_paused:
            self.world.note("{} goes on", self.id)
            self.is_paused = False
            held, self._held = self._held, []
            for step in held:
                step()
            self._tick()

    def stop(self) -> None:
        """Shuts down cleanly, as the listener does it: a broker first hands over the partitions it
        leads, and then a controller does so."""
        node = self.node
        if node is None or self.is_paused or self.is_stopping:
            return
        self.world.note("{} is to stop", self.id)
        self.is_stopping = True
        if node.lifecycle is not None:
            node.lifecycle.stop()
        # There may be no controller that allows the shutdown.
        self._retires_until = self.world.now + RETIRE_MS
        self.world.after(RETIRE_MS, lambda: self.step(lambda _: None) if self.node is node else None)
        self._touched()

    def _has_stopped(self, node: Node) -> bool:
        is_over, is_late = node.lifecycle is None or node.lifecycle.has_shut_down, self.world.now >= self._retires_until
        if (is_over or is_late) and not self._is_retiring:
            self._is_retiring = True
            node.quorum.retire(self._retires_until)
        return is_late or (self._is_retiring and node.quorum.is_retired)

    def _stopped(self, node: Node) -> None:
        self.world.note("{} has stopped", self.id)
        node.close(self.world.now)
        self._forget_node()

    def step(self, action: Callable[[Node], None]) -> None:
        """Calls the action on the node, unless its process has ended by then; later, if it
        hangs."""
        node = self.node
        if node is None:
            return
        if self.is_paused:
            self._held.append(lambda: self._step(node, action))
        else:
            self._step(node, action)

    def _step(self, node: Node, action: Callable[[Node], None]) -> None:
        if self.node is node:
            action(node)
            self._touched()

    def receive(
        self,
        sender: int,
        key: int,
        version: int,
        data: bytes,
        listener: ListenerSpec,
        reply: Callable[[Any], None],
        lost: Callable[[], None],
    ) -> None:
        """A request of `sender`, another node or a client, at this listener."""
        number = next(self._numbers)
        self._unanswered[number] = lost

        def answered(answer: Any) -> None:
            self._unanswered.pop(number, None)
            reply(answer)

        def taken(node: Node) -> None:
            body = registry.api(key).request.decode(data, version)
            connection = self._connection(sender, listener)
            request: Request[Any] = Request(
                key, version, number, "client", body, connection.peer, self.world.now, len(data)
            )
            task = node.submit(request, answered, self.world.now)
            if task is not None:
                connection.tasks[:] = [*(task for task in connection.tasks if task.alive), task]

        self.step(taken)

    def _connection(self, sender: int, listener: ListenerSpec) -> Connection:
        found = self._connections.get((sender, listener.name))
        if found is None:
            found = Connection(Peer(next(self._numbers), "127.0.0.1", 1, listener), [])
            self._connections[sender, listener.name] = found
        return found

    def disconnect(self, sender: int) -> None:
        """The connection of a client to the broker breaks: what waits for it is given up."""

        def lost(node: Node) -> None:
            connection = self._connections.pop((sender, self.listener(at_broker=True).name), None)
            if connection is not None:
                for task in connection.tasks:
                    task.close()
                for listener in connection.peer.on_disconnect:
                    listener(connection.peer.id)
                node.tick(self.world.now)

        self.step(lost)

    def _tick(self) -> None:
        def tick(node: Node) -> None:
            node.tick(self.world.now)
            for _, channel, _ in node.channels:
                channel.tick(self.world.now)

        self._wake = None
        self.step(tick)

    def _touched(self) -> None:
        node = self.node
        assert node is not None
        for _, channel, _ in node.channels:
            for send in channel.take_outgoing():
                self._send(node, channel, send)
        if node.flushing.due and not node.flushing.under_way:
            self._flush(node)
        if node.halted is not None:
            self._halted(node, node.halted)
            return
        self.cluster.watch.look(self)
        if self.is_stopping and self._has_stopped(node):
            self._stopped(node)
        else:
            self._schedule(node)

    def _halted(self, node: Node, why: str) -> None:
        raise Broken(f"node {self.id} is halted: {why}")

    def _send(self, node: Node, channel: Any, send: OutboundRequest) -> None:
        def on_answer(answer: Message | RequestFailure) -> None:
            if self.node is node:
                self.step(lambda node: channel.answered(send.token, answer, self.world.now))

        to, at_broker = self.cluster.id_at(send.to.endpoint), send.to.endpoint.port == CLIENT_PORT
        self.cluster.wires.ask(self.id, to, send.body, send.version, on_answer, REQUEST_MS, at_broker=at_broker)

    def listener(self, *, at_broker: bool) -> ListenerSpec:
        """The listener that a request comes to. `at_broker` counts if the node has two."""
        return BROKER if self.is_broker and (at_broker or not self.is_controller) else CONTROLLER

    def _flush(self, node: Node) -> None:
        jobs = node.flushing.begin()
        if jobs:

            def flushed(node: Node) -> None:
                node.flushing.end(jobs, flushing.run(jobs))
                node.tick(self.world.now)

            def done() -> None:
                self.step(flushed)

            self.world.after(self.disk_ms, lambda: done() if self.node is node else None)

    def _schedule(self, node: Node) -> None:
        deadlines = [node.next_deadline(), *(channel.next_deadline() for _, channel, _ in node.channels)]
        due = min((deadline for deadline in deadlines if deadline is not None), default=None)
        if self._wake is not None:
            self._wake.cancel()
        self._wake = None if due is None else self.world.after(due - self.world.now, self._tick)

    def log(self, topic: str, index: int) -> PartitionLog | None:
        """The log of a partition that it leads or follows; None while it is down, or before it
        serves."""
        node = self.node
        if node is None:
            return None
        led = node.partitions.get(topic, index)
        if led is not None:
            return led.log
        followed = None if node.fetchers is None else node.fetchers.get(topic, index)
        return None if followed is None else followed.log

    def __repr__(self) -> str:
        state = "down" if self.node is None else "hangs" if self.is_paused else "up"
        return f"{self.id} ({state})"
