"""A simulated cluster: its controllers and brokers, the network between them, its clients, and whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.logs.formatting import Beginning
from kafkadouble.server.metadata.bootstrap import format_records
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.raft.links import Failure
from kafkadouble.server.raft.voters import Endpoint

from ..network import Network
from ..world import Broken, Ended, World
from .asker import Asker
from .client import Client
from .consumer import Consumer
from .machine import WITHOUT_ELR, Lasting, Machine, OnDisk
from .member import CLIENT_PORT, PORT, Member, address
from .producer import Producer
from .shape import REQUEST_MS, TOPIC, Shape
from .watch import Watch
from .wires import Wires

IN_ORDER_WITHIN = 40_000
"""A cluster without faults is in order within this time (ms): some sessions, and what lags comes up."""

ADMIN = 99


class Cluster:
    """`members` are the nodes by id, `partitions` the numbers of those of the one topic."""

    def __init__(self, world: World, shape: Shape) -> None:
        self.world, self.shape = world, shape
        self.network = Network(world)
        self.members: dict[int, Member] = {}
        self.wires = Wires(world, self.network, self.members, shape.controller_ids)
        self.watch = Watch(self)
        ids = dict.fromkeys([*shape.controller_ids, *shape.broker_ids])
        self._by_address = {Endpoint(*address(id, port)): id for id in ids for port in (PORT, CLIENT_PORT)}
        for id in ids:
            self.members[id] = Member(self, id, self._machine(id), self._settings(id))
        self.partitions = range(shape.partitions)
        self.producers: list[Producer] = []
        self.consumers: list[Consumer] = []
        self.askers: list[Asker] = []
        self.writes = True  # producers do, as long as it is so
        self._values = 0

    def _machine(self, id: int) -> Machine:
        if self.shape.on_disks and id in self.shape.broker_ids:
            beginning = Beginning(format_records() if self.shape.elr else WITHOUT_ELR) if self.shape.combined else None
            return OnDisk(id, self.world.now, beginning)
        return Lasting(elr=self.shape.elr)

    def _settings(self, id: int) -> dict[str, object]:
        shape, roles = self.shape, self._roles(id)
        voters = ",".join("{}@{}:{}".format(voter, *address(voter)) for voter in shape.controller_ids)
        found = {**shape.settings, "node.id": id, "controller.quorum.voters": voters}
        found |= {"process.roles": ",".join(roles), "listeners": ",".join(roles.values())}
        if "broker" in roles and shape.racks:
            selector = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
            found |= {"broker.rack": f"rack{id}", "replica.selector.class": selector}
        return found

    def _roles(self, id: int) -> dict[str, str]:
        """What a node is, and where it listens as such."""
        found = {"broker": f"PLAINTEXT://:{CLIENT_PORT}", "controller": f"CONTROLLER://:{PORT}"}
        if not self.shape.combined:
            del found["broker" if id in self.shape.controller_ids else "controller"]
        return found

    def id_at(self, endpoint: Endpoint) -> int:
        return self._by_address[endpoint]

    @property
    def brokers(self) -> list[Member]:
        return [self.members[id] for id in self.shape.broker_ids]

    @property
    def controllers(self) -> list[Member]:
        return [self.members[id] for id in self.shape.controller_ids]

    def begin(self) -> None:
        """All nodes up, the topic there and in order, and clients at work."""
        for member in self.members.values():
            member.start()
        live = len(self.shape.broker_ids)
        self.require(lambda: self.watch.live_brokers() == live, "the brokers do not come up")
        self._create()
        self.await_order()
        self._begin_clients()

    def _create(self) -> None:
        of, shape, random = CreateTopicsRequest, self.shape, self.world.random
        assignments = [
            of.CreatableReplicaAssignment(
                partition_index=index, broker_ids=random.sample(shape.broker_ids, shape.replicas)
            )
            for index in self.partitions
        ]
        configs = [of.CreatableTopicConfig(name=name, value=value) for name, value in shape.topic_configs.items()]
        topic = of.CreatableTopic(
            name=TOPIC, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=configs
        )
        answer = self.ask_controller(of(topics=[topic], timeout_ms=1000), 7)
        if answer.topics[0].error_code:
            raise Broken(f"the topic cannot be made: {answer}")

    def _begin_clients(self) -> None:
        shape, random = self.shape, self.world.random
        for number in range(shape.producers):
            index = number % shape.partitions
            idempotent = number == 0 or random.random() < 0.5
            acks = -1 if idempotent else random.choice(shape.acks)
            self.producers.append(Producer(self, 101 + number, index, acks=acks, idempotent=idempotent))
        for number in range(shape.consumers):
            self.consumers.append(Consumer(self, 201 + number, number % shape.partitions))
        for number in range(shape.askers):
            self.askers.append(Asker(self, 301 + number, number % shape.partitions))
        for client in self._clients():
            client.begin()

    def _clients(self) -> list[Client]:
        return [*self.producers, *self.consumers, *self.askers]

    def next_value(self) -> int:
        """What no record has said before."""
        self._values += 1
        return self._values

    def ask_controller(self, body: Message, version: int) -> Any:
        """The active controller's answer, or None where there was none."""
        found: list[Message | Failure] = []
        leader = self.controller
        if leader is None:
            return None
        self.wires.ask(ADMIN, leader.id, body, version, found.append, REQUEST_MS)
        self.world.run_until(lambda: bool(found), REQUEST_MS + 1)
        return found[0] if isinstance(found[0], Message) else None

    def tell_controller(self, body: Message, version: int) -> None:
        """Ask it for something, and do not wait for what it says."""
        if (leader := self.controller) is not None:
            self.wires.ask(ADMIN, leader.id, body, version, lambda answer: None, REQUEST_MS)

    @property
    def controller(self) -> Member | None:
        """Who leads the quorum, as it believes; the latest of them."""
        leading = [each for each in self.controllers if each.node is not None and each.node.controller.leads]
        return max(leading, key=lambda each: each.node.controller.epoch if each.node else -1, default=None)

    def partition(self, index: int) -> PartitionImage:
        return self.watch.partitions[index]

    def leader(self, index: int) -> Member | None:
        """Who leads a partition, by the metadata and as it knows it itself."""
        image = self.partition(index)
        member = self.members.get(image.leader)
        led = None if member is None or member.node is None else member.node.partitions.get(TOPIC, index)
        return member if led is not None and led.leader_epoch == image.leader_epoch else None

    def is_open(self) -> bool:
        """Whether every broker lets clients in."""
        return all(each.node is not None and each.node.is_open for each in self.brokers)

    def is_in_order(self) -> bool:
        """Whether every partition is led, and all its replicas are in sync."""
        return len(self.watch.partitions) == self.shape.partitions and all(
            self.leader(index) is not None
            and set(self.partition(index).isr) == set(self.partition(index).replicas)
            and not self.partition(index).adding_replicas
            and not self.partition(index).removing_replicas
            for index in self.partitions
        )

    def await_order(self) -> None:
        self.require(self.is_in_order, "not every partition is led, with all its replicas in sync")

    def require(self, holds: Callable[[], bool], otherwise: str, within: int = IN_ORDER_WITHIN) -> None:
        """Broken when it does not come to that in a time that is ample."""
        try:
            self.world.run_until(holds, within)
        except Ended:
            state = f"{dict(self.watch.partitions)}, {[*self.members.values()]}"
            raise Broken(f"{otherwise}: {state}, {self._clients()}") from None

    def end_faults(self) -> None:
        """The network is whole, and everybody there."""
        self.world.note("all faults end")
        self.network.heal()
        self.wires.metadata_ms.clear()
        for member in self.members.values():
            member.disk_ms = 0
            member.resume()
            if member.is_stopping:
                member.kill()
            member.start()

    def recover(self) -> None:
        """All faults end: every partition is led, everybody in sync and equal, and the clients come to their ends."""
        self.end_faults()
        self.await_order()
        for producer in self.producers:
            producer.is_ending = True
        self.require(lambda: all(each.is_idle for each in self.producers), "a producer does not come to its end")
        self.await_order()
        self.require(self._is_settled, "what is in the logs is not committed everywhere")
        self.require(lambda: all(each.has_all for each in self.consumers), "a consumer does not come to the end")
        self.require(lambda: all(each.has_all for each in self.askers), "a client is not told where the log ends")
        self.watch.compare()

    def _is_settled(self) -> bool:
        return self.is_in_order() and all(self._is_equal(index) for index in self.partitions)

    def _is_equal(self, index: int) -> bool:
        logs = [self.members[id].log(TOPIC, index) for id in self.partition(index).replicas]
        ends = {offset for log in logs if log is not None for offset in (log.log_end_offset, log.high_watermark)}
        return None not in logs and len(ends) == 1
