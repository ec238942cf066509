"""A node behind its listeners: a program runs it in a background thread, a process in its own.

Rules. Everything here runs on the loop's thread. `ask` takes the same way through the handlers as a
client's request, but past the faults and the history, which are about clients.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from concurrent.futures import Future
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.server import dispatch
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.faults import DISK
from kafkadouble.server.network.clock import Clock, nanos_of
from kafkadouble.server.network.listener import Listener
from kafkadouble.server.node import Node
from kafkadouble.server.requests.request import OWNER, Peer, Request
from kafkadouble.server.tracing.history import History

from .cluster_api import BrokerState, ClusterApi
from .data.node_data import InMemory, NodeData
from .node_listeners import BoundListeners, address_on, of_brokers, of_controllers

if TYPE_CHECKING:
    from kafkadouble.server.broker.client_metrics_manager import TelemetryExporter
    from kafkadouble.server.faults.plane import Faults
    from kafkadouble.server.groups.service.former_members import FormerMembers
    from kafkadouble.server.metadata.image import Image
    from kafkadouble.server.network.clock import AdvancingClock
    from kafkadouble.server.replica.replication.partition import Partition
    from kafkadouble.server.requests.listener_spec import Address, ListenerSpec
    from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck
    from kafkadouble.server.tracing.capture import Capture
    from kafkadouble.server.tracing.member_fetches import MemberFetches

    from .data.saved_logs import SavedLogs

CLIENT_ID = "kafkadouble"


class Broker(ClusterApi):
    """A node, the clock that it goes by, and the listeners on which it is reached.

    `seed` repeats every choice that is made at random, on kept data those of the same life; without
    one each start and each reset makes its own. `history` keeps the latest requests, for a program
    that will look at them. `data` are the directories that it keeps its logs in; in memory unless
    given. `capture` has a row for each request of a connection. With `peer_requests` the history
    also keeps requests between nodes. `telemetry` takes the metrics of clients, and `token_check`
    checks the bearer tokens of listeners whose settings say so.
    """

    def __init__(
        self,
        settings: Settings,
        listeners: BoundListeners,
        clock: Clock,
        *,
        seed: int | None = None,
        history: bool = True,
        peer_requests: bool = False,
        data: NodeData | None = None,
        capture: Capture | None = None,
        telemetry: TelemetryExporter | None = None,
        token_check: TokenCheck | None = None,
    ) -> None:
        self._settings, self.clock, self._seed, self._history = settings, clock, seed, history
        self._data = data or InMemory(None)
        self._capture, self._peer_requests = capture, peer_requests
        self.listeners = listeners.specs
        self._telemetry, self._token_check = telemetry, token_check
        self._unanswered: set[Future[Any]] = set()  # of `ask`
        if not any(spec.advertised for spec in self.listeners):
            raise UsageError("a node without a listener serves no client")
        self._peer = Peer(OWNER, *self.address, self.listeners[0])
        self._held: BoundListeners | None = None  # while it is down
        self.listener = Listener(self._new_node(), clock, listeners.sockets)
        self.watches = self.listener.watches

    def _new_node(self, cluster_id: str | None = None, before: Node | None = None) -> Node:
        """A node on the data as they are now. One that continues `before` has its history and its
        fault rules."""
        seed = int.from_bytes(os.urandom(8), "big") if self._seed is None else self._seed
        now = self.clock.now()
        node = Node(
            self._settings,
            listeners=self.listeners,
            now=now,
            seed=seed,
            history=self._history and before is None,
            logs=self._data.open(),
            cluster_id=cluster_id,
            stopwatch=self.clock.now,
            nanos=nanos_of(self.clock),
            telemetry=self._telemetry,
            token_check=self._token_check,
        )
        if self._capture is not None:
            node.trace.subscribe(self._capture, self._capture.nanos)
        if before is not None:
            node.history, node.member_fetches = before.history, before.member_fetches
            node.faults.share(before.faults.register)
            node.trace.subscribe_all(node.history, node.member_fetches)
        if node.history is not None:
            node.history.keeps_peers = self._peer_requests
            node.history.topic_names.look_at(node)
        return node

    @property
    def node(self) -> Node:
        """The node that serves now."""
        return self.listener.node

    @property
    def address(self) -> Address:
        """The address of its first advertised listener."""
        return next(spec.advertised for spec in self.listeners if spec.advertised is not None)

    @property
    def controller(self) -> Address | None:
        """The address of its controller, if other nodes reach it."""
        return next((spec.advertised for spec in of_controllers(self.listeners)), None)

    @property
    def listener_names(self) -> list[str]:
        """The names of the listeners for clients."""
        return [spec.name for spec in of_brokers(self.listeners)]

    def addresses(self, listener: str | None = None) -> list[Address]:
        """The bootstrap addresses, on the first listener or on the one of this name."""
        return [address_on(self.listeners, listener)]

    @property
    def all_listeners(self) -> list[tuple[ListenerSpec, ...]]:
        """The listeners of each node."""
        return [self.listeners]

    @property
    def is_down(self) -> bool:
        """Whether it does not run, and keeps its data and its ports."""
        return self._held is not None

    def _running(self) -> Broker:
        if self.is_down:
            raise KafkaError(error_codes.BROKER_NOT_AVAILABLE, "the broker is down: `up` starts it")
        return self

    @property
    def image(self) -> Image:
        """The metadata of the cluster. KafkaError(BROKER_NOT_AVAILABLE) while it is down."""
        return self._running().node.controller.image

    @property
    def states(self) -> dict[int, BrokerState]:
        """Its own state by its id."""
        return {self.node.id: BrokerState(self.addresses()[0], not self.is_down, self.is_paused)}

    @property
    def members(self) -> list[Broker]:
        """The brokers of the cluster that can answer."""
        return [] if self.is_down else [self]

    @property
    def any_broker(self) -> Broker:
        """The broker that answers what any broker can answer. KafkaError(BROKER_NOT_AVAILABLE)."""
        return self._running()

    @property
    def controlling(self) -> Broker:
        """The broker whose node leads the quorum. KafkaError(BROKER_NOT_AVAILABLE)."""
        return self._running()

    def member(self, id: int) -> None:
        """The broker of this id, in a cluster; this is none."""

    def leading(self, topic: str, index: int) -> tuple[Broker, Partition] | None:
        """A partition, and the broker that leads it; None if there is no such partition. KafkaError
        if no broker leads it that can answer."""
        found = self._running().node.partitions.get(topic, index)
        return None if found is None else (self, found)

    def settle(self) -> None:
        """Processes everything that is due."""
        if self.is_down:
            return
        self.node.tick(self.clock.now())
        self.listener.reschedule()

    def advance(self, clock: AdvancingClock, milliseconds: int) -> None:
        """Advances the clock."""
        if self.is_down:
            clock.advance(milliseconds)
        else:
            self.listener.advance(clock, milliseconds)

    def clock_changed(self) -> None:
        """Sets the timers again."""
        if not self.is_down:
            self.listener.clock_changed()

    @property
    def history(self) -> History:
        """The latest requests. UsageError when they are not kept."""
        if self.node.history is None:
            raise UsageError("this broker keeps no history")
        return self.node.history

    @property
    def member_fetches(self) -> MemberFetches:
        """The fetches of members of groups. UsageError when that is not kept."""
        if self.node.member_fetches is None:
            raise UsageError("this broker keeps no history")
        return self.node.member_fetches

    @property
    def faults(self) -> Faults:
        """The rules of its node."""
        return self.node.faults

    @property
    def is_serving(self) -> bool:
        """Whether it was started, and not stopped since."""
        return self.listener.is_serving

    @property
    def node_ids(self) -> list[int]:
        """The nodes between which there are links: this one alone has none."""
        return [self.node.id]

    @property
    def disk_paths(self) -> list[str]:
        """The log directories that rules may fail; none in memory."""
        return self._data.paths

    def rules_changed(self) -> None:
        """Fault rules were armed or taken out of force."""
        self.listener.rules_changed()
        self._data.rules_changed(self.faults.register.by_plane[DISK], self.node)

    async def start(self) -> None:
        """Begins to accept."""
        self.rules_changed()
        await self.listener.start()

    async def stop(self) -> None:
        """Closes everything."""
        await self._end()
        if self._held is not None:
            self._held.close()
        self._data.release()

    @property
    def is_paused(self) -> bool:
        """Whether it runs, and stands still for its clients."""
        return self.listener.paused and not self.is_down

    def pause(self, paused: bool) -> None:
        """Lets the broker stand still for its clients, or go on."""
        if not self.is_down and self.listener.paused != paused:
            self.listener.pause(paused)
            self.settle()

    async def _end(self) -> None:
        self.pause(False)
        if not self.is_down:
            await self.listener.retire()
            await self.listener.stop()
            self.node.close(self.clock.now())

    async def down(self) -> None:
        """Shuts the node down in order. Its data and its ports stay."""
        if not self.is_down:
            await self._end()
            self._has_ended()

    async def kill(self) -> None:
        """Ends the node without notice. Its ports stay, and its data as after a `kill -9`. A paused
        broker does not continue before."""
        if not self.is_down:
            await self.listener.stop()
            self.listener.paused = False
            self.node.abandon()
            self._data.killed(self.node.logs, self.clock.now())
            self._has_ended()

    def _has_ended(self) -> None:
        self._held = BoundListeners(self.listeners, {}).held()
        self.give_up()

    async def up(self) -> None:
        """Starts a node on the data of the last one, behind the same ports."""
        if self.is_down:
            await self._begin(self._new_node(self.node.cluster_id, self.node))

    async def _begin(self, node: Node) -> None:
        """Serves a node behind the ports that are held."""
        assert self._held is not None
        self.listener = Listener(node, self.clock, self._held.sockets)
        self.listener.watches = self.watches
        self._held = None
        self.rules_changed()
        await self.listener.start()

    async def reset(self) -> None:
        """Puts a new node behind the same socket; nothing but the cluster id stays.

        The cluster id stays, because a client that outlives a reset keeps to it: librdkafka would
        log an error and take seconds to accept another.
        """
        former, cluster_id = former_members([self.node]), self._close_node()
        self._data.erase(self.clock.now(), cluster_id)
        node = self._new_node(cluster_id)
        node.former_members = former
        await self._replace(node)

    def _close_node(self) -> str:
        """Closes the node, which is replaced at once; the id of its cluster."""
        if not self.is_down:
            self.node.close(self.clock.now())
        return self.node.cluster_id

    async def _replace(self, node: Node) -> None:
        if node.history is not None:
            node.history.goes_on_from(self.history)
        if self.is_down:
            await self._begin(node)
        else:
            self.pause(False)
            self.listener.replace(node)
        self.give_up()

    def give_up(self) -> None:
        """The node is not called any more. Pending requests are never answered:
        KafkaError(BROKER_NOT_AVAILABLE)."""
        for answer in list(self._unanswered):
            problem = "the broker was stopped, killed, reset or restored before it answered"
            answer.set_exception(KafkaError(error_codes.BROKER_NOT_AVAILABLE, problem))

    def save(self) -> SavedLogs:
        """A copy of what the node keeps, as after an orderly stop."""
        logs = None if self.is_down else self.node.logs
        return self._data.save(logs, self.clock.now(), self.node.broker_epoch)

    async def restore(self, saved: SavedLogs) -> None:
        """As `reset`, with a node that begins with what was saved."""
        cluster_id = self._close_node()
        self._data.put(saved, self.clock.now(), cluster_id)
        await self._replace(self._new_node(cluster_id))

    def ask(self, body: Message, at: Broker | None = None) -> Future[Any]:
        """The node's answer to a request in the newest version that is served.
        KafkaError(BROKER_NOT_AVAILABLE) if the node ends before it answers."""
        node, now = self._running().node, self.clock.now()
        answer: Future[Any] = Future()
        node.advance(now)
        result = dispatch.handled(node, self._request(body, now))
        with node.waiting.asides_at_once():
            if isinstance(result, GeneratorType):
                self._unanswered.add(answer)
                answer.add_done_callback(self._unanswered.discard)
                node.waiting.start(result, answer.set_result, answer.set_exception)
            else:
                answer.set_result(result)
            node.tick(now)
            while node.waiting.is_busy and not answer.done():  # the caller lets none go first
                node.tick(now)
        self.listener.reschedule()
        return answer

    def _request(self, body: Message, now: int) -> Request[Any]:
        served = None if body.api_key is None else SERVED.get(body.api_key)
        if served is None:
            raise UsageError(f"{type(body).__name__} is not served yet")
        return Request(served.api.key, served.highest, 0, CLIENT_ID, body, self._peer, received=now, size=0)

    def __repr__(self) -> str:
        return f"{self.node!r}, down" if self.is_down else repr(self.listener)


def former_members(nodes: Collection[Node]) -> FormerMembers | None:
    """The members of the groups of these nodes, which will be emptied, and those that do not know
    yet that they were."""
    before = next((node.former_members for node in nodes if node.former_members), None)
    if all(group.is_empty for node in nodes for shard in node.groups for group in shard.groups.values()):
        return before
    # After a reset alone.
    from kafkadouble.server.groups.service.former_members import FormerMembers

    return FormerMembers((node.groups for node in nodes), before)
