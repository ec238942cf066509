"""Several controllers as nodes: requests are carried as bytes between them, in stepped time.

    controllers = Controllers(3)
    leader = controllers.elect()
    answer = controllers.ask(leader, CreateTopicsRequest(...), 7)
    controllers.kill(leader.id); controllers.restart(leader.id)

No message is lost, except messages to a node that is down or cut off. A killed node keeps its logs,
a `wiped` one does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.log.files.disk import Disk
from kafkadouble.server.logs import flushing
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import format_directory, opened
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.metadata.image import TopicImage
from kafkadouble.server.node import Node
from kafkadouble.server.raft.messages import downgraded
from kafkadouble.server.raft.request_manager import OutboundRequest, RequestFailure
from kafkadouble.server.requests.answer import Altered
from kafkadouble.server.requests.listener_spec import ListenerSpec
from kafkadouble.server.requests.request import Peer, Request
from tests.server.harness import NOW, SEED
from tests.server.log.files.lossy_disk import LossyDisk
from tests.server.topic_requests import creating
from tests.support.listeners import BROKER, CONTROLLER, listeners_of

PORT = 9093
STEP = 5
"""The length of a step in milliseconds."""


def address(id: int) -> tuple[str, int]:
    return f"node{id}", PORT


class Controllers:
    """`count` controllers with static voters, and the further settings of each."""

    def __init__(self, count: int, settings: Mapping[str, object] | None = None, *, now: int = NOW) -> None:
        self.ids = list(range(1, count + 1))
        self.now = now
        self.muted_ms = 0  # for how long the latest answer mutes its connection
        self.cut: set[int] = set()
        self.nodes: dict[int, Node] = {}
        self._settings = {
            "process.roles": "controller",
            "controller.quorum.voters": ",".join("{}@{}:{}".format(id, *address(id)) for id in self.ids),
            **(settings or {}),
        }
        self._logs: dict[int, Logs] = {}
        self._tokens = _tokens()
        self._carried: list[Callable[[], None]] = []
        for id in self.ids:
            self.restart(id)

    def restart(self, id: int, settings: Mapping[str, object] | None = None) -> Node:
        """Starts a node on the files that an earlier run left."""
        if id not in self._logs:
            self._logs[id] = self._new_logs(id)
        logs = self._logs[id]
        config: dict[str, object] = {**self._settings, **(settings or {})}
        of_broker = ",PLAINTEXT://:9092" if "broker" in str(config["process.roles"]) else ""
        given = Settings({"node.id": id, "listeners": f"CONTROLLER://:{PORT}{of_broker}", **config})
        controller = address(id) if "controller" in given.list("process.roles") else None
        listeners = listeners_of(given, address(id), controller)
        node = Node(given, listeners=listeners, now=self.now, seed=SEED + id, logs=logs)
        self.nodes[id] = node
        return node

    def _new_logs(self, id: int) -> Logs:
        logs = MemoryLogs()
        logs.cluster_id = "a-cluster"
        return logs

    def add_broker(self, id: int, settings: Mapping[str, object] | None = None) -> Node:
        """Starts a broker, or restarts one that was killed or stopped."""
        roles = {"process.roles": "broker", "listeners": "PLAINTEXT://:9092"}
        return self.restart(id, {**roles, **(settings or {})})

    def add_brokers(self, ids: Sequence[int], settings: Mapping[str, object] | None = None) -> None:
        """Starts brokers, and waits until they are unfenced."""
        for id in ids:
            self.add_broker(id, settings)
        self.elect()
        self.until(lambda: len(self.leader.controller.image.live_brokers()) == len(ids))

    def create(self, *names: str, **how: Any) -> None:
        """Creates topics; see `creating`."""
        answer = self.ask(self.leader, creating(*names, **how), 7)
        assert not any(topic.error_code for topic in answer.topics), answer

    def topic(self, name: str) -> TopicImage:
        image = self.leader.controller.image
        return image.topics[image.topic_ids[name]]

    def stop_broker(self, id: int) -> None:
        """Stops a node cleanly."""
        node = self.nodes[id]
        assert node.lifecycle is not None
        node.lifecycle.stop()
        self.until(lambda: node.lifecycle is not None and node.lifecycle.has_shut_down)
        node.close(self.now)
        self.kill(id)

    def kill(self, id: int) -> None:
        """Kills a node without a shutdown."""
        del self.nodes[id]

    def wipe(self, id: int) -> None:
        """Kills a node, and deletes all its files."""
        self.kill(id)
        del self._logs[id]

    def step(self, milliseconds: int = STEP) -> None:
        """Lets time pass."""
        for _ in range(0, milliseconds, STEP):
            self.now += STEP
            for node in list(self.nodes.values()):
                node.tick(self.now)
                for _, channel, _ in node.channels:
                    channel.tick(self.now)
            self._carry()
            self._flush()

    def _flush(self) -> None:
        for node in list(self.nodes.values()):
            jobs = node.flushing.begin()
            node.flushing.end(jobs, flushing.run(jobs))

    def _carry(self) -> None:
        for _ in range(20):
            for node in list(self.nodes.values()):
                for _, channel, _ in node.channels:
                    for send in channel.take_outgoing():
                        self._deliver(node, channel, send)
            carried, self._carried = self._carried, []
            if not carried:
                return
            for each in carried:
                each()

    def _deliver(self, node: Node, channel: Any, send: OutboundRequest) -> None:
        target = next((node for node in self.nodes.values() if address(node.id) == tuple(send.to.endpoint)), None)

        def answered(response: Message | RequestFailure) -> None:
            if self.nodes.get(node.id) is node:
                is_cut = target is None or {node.id, target.id} & self.cut
                outcome = RequestFailure.LOST if is_cut else response
                self._carried.append(lambda: channel.answered(send.token, outcome, self.now))

        if target is None or {node.id, target.id} & self.cut:
            answered(RequestFailure.LOST)
            return
        self.submit(target, downgraded(send.body, send.version), send.version, answered)

    def submit(
        self,
        node: Node,
        body: Message,
        version: int,
        answered: Callable[[Any], None],
        listener: ListenerSpec | None = None,
    ) -> None:
        """A request as another node sends it; to a broker as a client sends it. `listener` receives
        it if a node has two.
        """
        key = body.api_key or 0
        encoded = body.encode(version)
        read = registry.api(key).request.decode(encoded, version)
        peer = Peer(1, "127.0.0.1", 1, listener or (CONTROLLER if "controller" in node.roles else BROKER))
        request: Request[Any] = Request(key, version, next(self._tokens), "test", read, peer, self.now, len(encoded))

        def reply(answer: Any) -> None:
            self.muted_ms = answer.mute_ms if isinstance(answer, Altered) else 0
            answer = answer.message if isinstance(answer, Altered) else answer
            response = registry.api(key).response.decode(answer.encode(version), version)
            self._carried.append(lambda: answered(response))

        node.submit(request, reply, self.now)

    def ask(
        self, node: Node, body: Message, version: int, within: int = 10_000, listener: ListenerSpec | None = None
    ) -> Any:
        """The answer to a client of the controllers' listener, as soon as there is one."""
        found: list[Any] = []
        self.submit(node, body, version, found.append, listener)
        self.until(lambda: bool(found), within)
        return found[0]

    def until(self, holds: Callable[[], bool], within: int = 30_000) -> None:
        """Lets time pass until this holds."""
        end = self.now + within
        self._carry()
        while not holds():
            assert self.now < end, f"not within {within} ms: {list(self.nodes.values())}"
            self.step()

    def elect(self) -> Node:
        """Waits until every node follows one leader, and everything is committed everywhere."""
        self.until(self._is_settled)
        return self.leader

    @property
    def leader(self) -> Node:
        [leader] = [node for node in self.nodes.values() if node.controller.leads]
        return leader

    def _is_settled(self) -> bool:
        leaders = [node for node in self.nodes.values() if node.controller.leads]
        ends = {node.controller.image.end for node in self.nodes.values() if node.id not in self.cut}
        return len(leaders) == 1 and len(ends) == 1 and leaders[0].controller.draft.end in ends


def _tokens() -> Any:
    return count(1)


class OnDisks(Controllers):
    """The same with brokers on disks whose power can fail. Controllers are in memory."""

    def __init__(self, count: int, settings: Mapping[str, object] | None = None, features: Sequence[Any] = ()) -> None:
        self.disks: dict[int, LossyDisk] = {}
        self._features, self._ids = features, Random(SEED)
        super().__init__(count, settings)

    def _new_id(self) -> Uuid:
        return Uuid.random(self._ids.randbytes)

    def _new_logs(self, id: int) -> Logs:
        if id in self.ids:
            logs = super()._new_logs(id)
            logs.bootstrap = self._features  # type: ignore[misc]  # logs in memory accept it
            return logs
        if id not in self.disks:
            self.disks[id] = LossyDisk()
            format_directory(self.disks[id], f"disk{id}", "a-cluster", id, self._new_id(), self.now)
        disks: dict[str, Disk] = {f"disk{id}": self.disks[id]}
        return FileLogs(opened(disks, id), self._new_id)

    def restart(self, id: int, settings: Mapping[str, object] | None = None) -> Node:
        if id not in self.ids:
            self._logs[id] = self._new_logs(id)
        return super().restart(id, settings)

    def kill(self, id: int) -> None:
        super().kill(id)
        if id in self.disks:
            self.disks[id] = self.disks[id].copy()

    def lose_power(self, id: int, random: Random) -> None:
        """Ends the machine at once; unflushed data is lost, kept, or lost in part."""
        super().kill(id)
        self.disks[id] = self.disks[id].power_lost(random)


class ControllersOnDisks(Controllers):
    """Controllers that keep their files on disks of the caller."""

    def __init__(self, disks: Mapping[int, Disk], settings: Mapping[str, object] | None = None) -> None:
        self.disks = disks
        super().__init__(len(disks), settings)

    def _new_logs(self, id: int) -> Logs:
        return FileLogs(opened({f"disk{id}": self.disks[id]}, id), _no_id)


def _no_id() -> Uuid:
    raise AssertionError("controllers make no directories")
