"""A simulated cluster: its controllers and brokers, the network between them, its clients, and its
watchers."""

from __future__ import annotations

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.server.logs.formatting import BootstrapMetadata
from kafkadouble.server.metadata.image import PartitionImage

from ..world import Broken, World
from .asker import Asker
from .client import Client
from .consumer import Consumer
from .machine import Lasting, Machine, OnDisk, first_records
from .member import Member
from .nodes import Nodes
from .producer import Producer
from .shape import HIGHEST_LEVEL, TOPIC, Shape
from .watch import Watch

CREATE_TOPICS_VERSION = 7


class Cluster(Nodes):
    """`partitions` are the numbers of the partitions of the one topic."""

    def __init__(self, world: World, shape: Shape) -> None:
        super().__init__(world, shape)
        self.watch: Watch = self._make_watch()
        for id in self.ids:
            self.members[id] = Member(self, id, self._machine(id), self.settings_of(id))
        self.partitions = range(shape.partitions)
        self.producers: list[Producer] = []
        self.consumers: list[Consumer] = []
        self.askers: list[Asker] = []
        self.writes = True  # while this holds, producers write
        self._values = 0

    def _make_watch(self) -> Watch:
        return Watch(self)

    def _machine(self, id: int) -> Machine:
        if self.shape.on_disks and id in self.shape.broker_ids:
            beginning = BootstrapMetadata(first_records(self.shape)) if self.shape.combined else None
            return OnDisk(id, self.world.now, beginning)
        # A controller that is not formatted begins with the levels of its release.
        is_usual = self.shape.elr and self.shape.transaction_version == HIGHEST_LEVEL
        return Lasting(() if is_usual else first_records(self.shape))

    def begin(self) -> None:
        """Starts all nodes, creates the topic, waits until it is in order, and starts the
        clients."""
        for member in self.members.values():
            member.start()
        live = len(self.shape.broker_ids)
        self.require(lambda: self.watch.live_brokers() == live, "the brokers do not come up")
        self._create_topics()
        self.await_order()
        self._begin_clients()

    def _create_topics(self) -> None:
        self._create(TOPIC, len(self.partitions))

    def _create(self, name: str, partitions: int) -> None:
        answer = self.ask_controller(self.creation(name, partitions), CREATE_TOPICS_VERSION)
        if answer.topics[0].error_code:
            raise Broken(f"the topic {name} cannot be made: {answer}")

    def creation(self, name: str, partitions: int) -> CreateTopicsRequest:
        """The request that creates a topic, with replicas on random brokers."""
        of, shape, random = CreateTopicsRequest, self.shape, self.world.random
        assignments = [
            of.CreatableReplicaAssignment(
                partition_index=index, broker_ids=random.sample(shape.broker_ids, shape.replicas)
            )
            for index in range(partitions)
        ]
        configs = [of.CreatableTopicConfig(name=key, value=value) for key, value in shape.topic_configs.items()]
        topic = of.CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=configs
        )
        return of(topics=[topic], timeout_ms=1000)

    def _begin_clients(self) -> None:
        shape = self.shape
        for number in range(shape.producers):
            self._make_producer(number % shape.partitions)
        for number in range(shape.consumers):
            self.consumers.append(Consumer(self, 201 + number, number % shape.partitions))
        for number in range(shape.askers):
            self.askers.append(Asker(self, 301 + number, number % shape.partitions))
        for client in self._clients():
            client.begin()

    def _make_producer(self, index: int) -> Producer:
        number, random = len(self.producers), self.world.random
        idempotent = number == 0 or random.random() < 0.5
        acks = -1 if idempotent else random.choice(self.shape.acks)
        self.producers.append(Producer(self, 101 + number, index, acks=acks, idempotent=idempotent))
        return self.producers[-1]

    def _clients(self) -> list[Client]:
        return [*self.producers, *self.consumers, *self.askers]

    def next_value(self) -> int:
        """A value that no record has had before."""
        self._values += 1
        return self._values

    def partition(self, index: int) -> PartitionImage:
        return self.watch.partitions[index]

    def leader(self, index: int) -> Member | None:
        """The broker that leads a partition, according to the metadata and to itself."""
        return self.leader_of(TOPIC, index, self.partition(index))

    def leader_of(self, topic: str, index: int, image: PartitionImage) -> Member | None:
        """The broker that leads this partition of any topic."""
        member = self.members.get(image.leader)
        led = None if member is None or member.node is None else member.node.partitions.get(topic, index)
        return member if led is not None and led.leader_epoch == image.leader_epoch else None

    def is_in_order(self) -> bool:
        """Whether every partition is led, and all its replicas are in sync."""
        return self._are_in_order(self.watch)

    def _are_in_order(self, watch: Watch) -> bool:
        return len(watch.partitions) == len(watch.histories) and all(
            self.leader_of(watch.topic, index, image) is not None
            and set(image.isr) == set(image.replicas)
            and not image.adding_replicas
            and not image.removing_replicas
            for index, image in watch.partitions.items()
        )

    def state(self) -> str:
        return f"{dict(self.watch.partitions)}, {self._clients()}"

    def await_order(self) -> None:
        self.require(self.is_in_order, "not every partition is led, with all its replicas in sync")

    def end_faults(self) -> None:
        """Repairs the network, and starts every node."""
        self.world.note("all faults end")
        self.network.heal()
        self.wires.metadata_ms.clear()
        self.wires.late_ms.clear()
        for member in self.members.values():
            member.disk_ms = 0
            member.resume()
            if member.is_stopping:
                member.kill()
            member.start()

    def recover(self) -> None:
        """Ends all faults: every partition is led, all replicas are in sync and equal, and the
        clients reach the end of what they do."""
        self.end_faults()
        self.await_order()
        for producer in self.producers:
            producer.is_ending = True
        self.require(lambda: all(each.is_idle for each in self.producers), "a producer does not come to its end")
        self.await_order()
        self.require(self._is_settled, "what is in the logs is not committed everywhere")
        self.require(lambda: all(each.has_all for each in self.consumers), "a consumer does not come to the end")
        self.require(lambda: all(asker.has_all for asker in self.askers), "a client does not get the log end offset")
        self.watch.compare()

    def _is_settled(self) -> bool:
        return self.is_in_order() and self._are_equal(self.watch)

    def _are_equal(self, watch: Watch) -> bool:
        return all(self._is_equal(watch.topic, index, image) for index, image in watch.partitions.items())

    def _is_equal(self, topic: str, index: int, image: PartitionImage) -> bool:
        logs = [self.members[id].log(topic, index) for id in image.replicas]
        ends = {offset for log in logs if log is not None for offset in (log.log_end_offset, log.high_watermark)}
        return None not in logs and len(ends) == 1
