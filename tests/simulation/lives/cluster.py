"""A simulated cluster whose nodes have files: its runs ("lives"), its clients, and the checks after
each life."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.raft.request_manager import RequestFailure
from kafkadouble.wire.batch import Record, encode_batch

from ..brokers.machine import first_records
from ..brokers.nodes import Nodes
from ..world import Broken, World
from . import bounds, directories
from .groups import Groups
from .ledger import Ledger, Stored
from .machine import Disks
from .member import LivesMember
from .shape import RETENTION, SEGMENT, LivesShape
from .transactions import Transactions
from .watch import Watch

CLIENT = 101
TIMEOUT_MS = 1200
PRODUCE_VERSION, CREATE_VERSION = 9, 7

POLICIES: dict[str, dict[str, object]] = {
    "kept": {"retention.bytes": RETENTION, "retention.ms": -1, "file.delete.delay.ms": 5000},
    "compacted": {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.2", "file.delete.delay.ms": 5000},
}
"""The topics that exist as long as the cluster, and their settings."""

Key = tuple[str, int]


class Cluster(Nodes):
    """`ledgers` hold what clients know of each partition."""

    shape: LivesShape
    members: dict[int, LivesMember]  # type: ignore[assignment]  # all of them are such

    def __init__(self, world: World, shape: LivesShape) -> None:
        super().__init__(world, shape)
        self.watch: Watch = Watch(self)
        for id in self.ids:
            self.members[id] = LivesMember(self, id, self._disks(id), self.settings_of(id))
        self.count = Counter[str]()
        self.ledgers: dict[Key, Ledger] = {}
        self._ids: dict[str, object] = {}  # the ids of the topics, as they were created
        self._values = 0
        self.may_lose = False  # unflushed data may be lost, since the last check
        self.losses = 0  # losses of power that may lose unflushed data
        self.groups = Groups(self)
        self.transactions = Transactions(self) if shape.transactional else None

    def _disks(self, id: int) -> Disks:
        records = first_records(self.shape) if id in self.shape.controller_ids else None
        return Disks(id, self.shape.directories, self.world.now, records)

    def begin(self) -> None:
        """Starts the first life of every node."""
        for member in self.members.values():
            member.start()
        self.come_back()
        if self.transactions is not None:
            self.transactions.begin()

    def state(self) -> str:
        return f"{self.watch.image!r}: {[*self.partitions().values()]}"

    # Topics

    def partitions(self) -> dict[Key, PartitionImage]:
        """The partitions of the topics that exist as long as the cluster."""
        found = ((name, self.watch.image.topic_named(name)) for name in POLICIES)
        return {
            (name, index): each
            for name, topic in found
            if topic is not None
            for index, each in sorted(topic.partitions.items())
        }

    def make_topics(self) -> None:
        """Creates the topics that are missing: the first life has none, and a loss of power may
        have taken them."""
        for name in POLICIES:
            topic = self.watch.image.topic_named(name)
            if topic is not None and self._ids.get(name) in (None, topic.id):
                self._ids[name] = topic.id
                continue
            if name in self._ids and not self.may_lose:
                raise Broken(f"topic {name} was made, and is not there")
            if topic is None:
                self.require(lambda name=name: self._make(name), f"topic {name} cannot be made")  # type: ignore[misc]  # of each
            self._ids.pop(name, None)
            for index in range(self.shape.partitions):
                self.ledgers[name, index] = Ledger(f"{name}-{index}", compacts=name == "compacted")
        for name in POLICIES:
            made = self.watch.image.topic_named(name)
            self._ids[name] = None if made is None else made.id

    def _make(self, name: str) -> bool:
        of, shape = CreateTopicsRequest, self.shape
        configs = {"internal.segment.bytes": SEGMENT, "min.insync.replicas": 1, **POLICIES[name]}
        topic = of.CreatableTopic(
            name=name,
            num_partitions=shape.partitions,
            replication_factor=shape.replicas,
            configs=[of.CreatableTopicConfig(name=key, value=str(value)) for key, value in configs.items()],
        )
        answer = self.ask_controller(of(topics=[topic], timeout_ms=1000), CREATE_VERSION)
        code = -1 if answer is None else answer.topics[0].error_code
        if code == error_codes.UNKNOWN_SERVER_ERROR:
            raise Broken(f"topic {name}: {answer.topics[0].error_message}")
        return code in (error_codes.NONE, error_codes.TOPIC_ALREADY_EXISTS)

    # Clients

    def ask(self, to: int, body: Message, version: int, on_answer: Callable[[Any], None]) -> None:
        def answered(answer: Message | RequestFailure) -> None:
            on_answer(None if isinstance(answer, RequestFailure) else answer)

        self.wires.ask(CLIENT, to, body, version, answered, TIMEOUT_MS, at_broker=True)

    def produce(self, key: Key, records: list[tuple[bytes | None, int]]) -> None:
        """Sends one batch of (key, bytes of padding) to the leader; the result goes to the
        ledger."""
        partition = self.partitions().get(key)
        if partition is None or partition.leader < 0:
            return
        ledger, values = self.ledgers[key], []
        for of_record, padding in records:
            self._values += 1
            ledger.sent[self._values] = of_record
            values.append((of_record, self._values, padding))
        batch = encode_batch(
            [Record(at, self.world.now, of, b"%d" % value + b" " * pad) for at, (of, value, pad) in enumerate(values)]
        )
        data = ProduceRequest.PartitionProduceData(index=key[1], records=bytes(batch))
        topic, losses = ProduceRequest.TopicProduceData(name=key[0], partition_data=[data]), self.losses

        def on_answer(answer: Any) -> None:
            found = None if answer is None else answer.responses[0].partition_responses[0]
            # Otherwise the batch may be lost already.
            is_of_now = losses == self.losses and self.ledgers.get(key) is ledger
            if found is not None and found.error_code == error_codes.NONE and is_of_now:
                self.count["records acknowledged"] += len(values)
                for at, (of, value, _) in enumerate(values, found.base_offset):
                    ledger.acknowledged[at] = Stored(at, of, value)

        self.ask(
            partition.leader, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic]), PRODUCE_VERSION, on_answer
        )

    # Lives

    def power_lost(self) -> None:
        if not self.shape.flushing:
            self.may_lose = True
            self.losses += 1

    def down(self) -> Iterator[LivesMember]:
        return (member for member in self.members.values() if not member.is_up)

    def end_of_life(self, member: LivesMember) -> None:
        """This node is down: its files are valid, or at least valid for an unclean stop."""
        self.count[f"ended by {member.how}"] += 1
        if member.how == "power":
            return  # the next start repairs half-written files
        for number, (path, disk) in enumerate(member.machine.disks.items()):
            is_stopped = member.how == "stop"
            # The node learns that a topic is compacted from the metadata, or later from a
            # checkpoint.
            verdict = directories.checked(disk, gaps=number > 0 and not is_stopped)
            found = verdict.first if is_stopped else verdict.corrupt
            if found is not None:
                raise Broken(f"after a {member.how} of node {member.id} `kafkadouble check` says of {path}: {found}")

    def come_back(self) -> None:
        """All nodes are up: every broker is registered, every partition is led, and has the records
        it must have."""
        self.require(self._is_back, "not every broker comes back")
        self.make_topics()
        self.require(self._is_settled, "not every partition is led, with all its replicas in sync")
        for key, ledger in self.ledgers.items():
            ledger.check(self.led(key), may_lose=self.may_lose)
        self.groups.check(may_lose=self.may_lose)
        self.may_lose = False

    def _is_back(self) -> bool:
        return self.is_open() and {broker.id for broker in self.watch.image.live_brokers()} >= {*self.shape.broker_ids}

    def led(self, key: Key) -> Any:
        """The log of the leader; None while no broker leads."""
        member = self.members.get(self.partitions()[key].leader)
        led = None if member is None or member.node is None else member.node.partitions.get(*key)
        return None if led is None else led.log

    def _is_settled(self) -> bool:
        found = self.partitions()
        return len(found) == len(POLICIES) * self.shape.partitions and all(
            set(each.isr) == set(each.replicas) and self._is_equal(key, each) for key, each in found.items()
        )

    def _is_equal(self, key: Key, partition: PartitionImage) -> bool:
        logs = [self.members[id].log(*key) for id in partition.replicas]
        ends = {offset for log in logs if log is not None for offset in (log.log_end_offset, log.high_watermark)}
        return self.led(key) is not None and None not in logs and len(ends) == 1

    def end(self) -> None:
        """Shuts every node down cleanly; its files must be valid."""
        for member in self.members.values():
            member.stop()
        self.require(lambda: not any(member.is_up for member in self.members.values()), "a node does not stop")
        for member in self.members.values():
            self.end_of_life(member)

    def rest(self) -> None:
        """Writes nothing until everything that is due is deleted: then no directory has files left
        over."""
        self.world.run_for(bounds.REST_MS)
        disks = {path: disk for member in self.members.values() for path, disk in member.machine.disks.items()}
        let_go = {path: {*directories.deleted(disk)} for path, disk in disks.items()}
        self.world.run_for(bounds.GONE_WITHIN_MS)
        self.require(self._is_settled, "not every partition is led, with all its replicas in sync")
        for path, disk in disks.items():
            if left := let_go[path] & {*directories.deleted(disk)}:
                raise Broken(f"{path}: {sorted(left)} should be gone")
            bounds.check(path, disk, self.shape)
