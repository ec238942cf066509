"""A random schedule of one consumer group: clients join, leave, restart and lose answers, topics
change, and the coordinator is loaded from its log. Everything comes from the seed.

Promises. At any time a partition has at most one current member that holds it. A coordinator that
loads the log has the group that it had. When nothing happens any more, the group becomes Stable,
and every partition of a subscribed topic has one holder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.consumer.consumer_group import ConsumerGroup
from tests.server.groups.bench import GROUP
from tests.server.groups.consumer.bench import ConsumerBench
from tests.server.groups.consumer.schedule_clients import ClassicClient, ConsumerClient, Partition

NAMES = ("t1", "t2", "u1")
REGEXES = ("t.*", "[tu]1", "u.*")
MOST_PARTITIONS = 5
MOST_CLIENTS = 5

Client = ConsumerClient | ClassicClient


class Schedule:
    """One run. `loses` is the probability that a request or its answer is lost."""

    def __init__(self, seed: int, *, classic: bool) -> None:
        self.seed, self.made = seed, Random(seed)
        made = self.made
        self.bench = ConsumerBench(group_consumer_assignment_interval_ms=made.choice([0, 0, 1000]))
        self.classic, self.cooperative = classic, made.random() < 0.5
        self.assignor = made.choice([None, "range", "uniform"])
        self.loses = made.choice([0.0, 0.1, 0.3])
        self.clients: list[Client] = []
        self.topics: dict[str, Uuid] = {}
        self.events: Counter[str] = Counter()
        self._names = iter(range(1000))
        self.create_topic()

    # What happens.

    def run(self, steps: int) -> None:
        """Does some steps, then lets the group settle."""
        for _ in range(steps):
            self.step()
            self.check_owners()
        self.settle()

    def step(self) -> None:
        kind = self.made.choices(list(EVENTS), weights=[weight for weight, _ in EVENTS.values()])[0]
        self.events[kind] += 1
        EVENTS[kind][1](self)

    def create_topic(self) -> None:
        missing = [name for name in NAMES if name not in self.topics]
        if missing:
            name = self.made.choice(missing)
            self.topics[name] = self.bench.create_topic(name, self.made.randrange(1, MOST_PARTITIONS))

    def delete_topic(self) -> None:
        if len(self.topics) > 1:
            name = self.made.choice(sorted(self.topics))
            self.bench.delete_topic(self.topics.pop(name))

    def add_partition(self) -> None:
        id = self.topics[self.made.choice(sorted(self.topics))]
        topic = self.bench.node.image.topic(id)
        assert topic is not None
        index = len(topic.partitions)
        record = PartitionRecord(partition_id=index, topic_id=id, replicas=[1], isr=[1], leader=1)
        record.leader_epoch, record.partition_epoch, record.directories = 0, 0, [Uuid.ZERO]
        records: list[Message] = [record]
        if index < MOST_PARTITIONS:
            self.bench.node.controller.commit(records)

    def join(self) -> None:
        if sum(not client.gone for client in self.clients) >= MOST_CLIENTS:
            return
        made, name = self.made, f"c{next(self._names)}"
        topics = made.sample(NAMES, made.randrange(1, 3))
        if self.classic and made.random() < 0.5:
            self.clients.append(ClassicClient(self.bench, made, name, topics=topics, cooperative=self.cooperative))
            return
        regex = made.choice(REGEXES) if made.random() < 0.3 else None
        instance = f"i{name}" if made.random() < 0.3 else None
        how = {"topics": topics, "regex": regex, "instance": instance, "assignor": self.assignor}
        self.clients.append(ConsumerClient(self.bench, made, name, **how))

    def request(self) -> None:
        if (client := self.any_client()) is not None:
            client.step(loses=self.loses)

    def any_client(self) -> Client | None:
        present = [client for client in self.clients if not client.gone]
        return self.made.choice(present) if present else None

    def leave(self) -> None:
        if (client := self.any_client()) is not None:
            client.leave()

    def restart(self) -> None:
        if (client := self.any_client()) is not None:
            client.restart()

    def subscribe(self) -> None:
        if (client := self.any_client()) is not None:
            client.subscribe(self.made.sample(NAMES, self.made.randrange(1, 3)), self.made.choice(REGEXES))

    def let_time_pass(self) -> None:
        self.bench.advance(self.made.choice([1, 100, 1000, 3000, 12_000]))

    def fail_over(self) -> None:
        """The coordinator loads the log: the group must be as it was."""
        before = state_of(self.bench)
        self.bench.fail_over()
        assert state_of(self.bench) == before

    # What must hold.

    def check_owners(self) -> None:
        holders: dict[Partition, Client] = {}
        existing = {str(id) for id in self.topics.values()}
        for client in self.clients:
            for partition in client.holding if client.is_current else ():
                other = holders.setdefault(partition, client)
                if other is not client and partition[0] in existing:
                    raise AssertionError(f"seed {self.seed}: {partition} has two owners:\n{other!r}\n{client!r}")

    def settle(self) -> None:
        """Nothing happens any more but heartbeats; members that vanished are fenced."""
        for _ in range(400):
            self.bench.advance(1_000)
            for client in self.clients:
                if not client.gone:
                    client.step()
                    self.check_owners()
            if self.is_settled():
                break
        assert self.is_settled(), f"seed {self.seed}: the group does not settle: {self.clients}, {self.described()}"
        self.fail_over()

    def described(self) -> Any:
        return state_of(self.bench)

    def is_settled(self) -> bool:
        group: Any = self.bench.shard().groups.get(GROUP)
        present = [client for client in self.clients if not client.gone]
        if not present:
            return group is None or group.is_empty
        expected = {partition for client in present for partition in self.subscribed(client)}
        held = [partition for client in present if client.is_current for partition in client.holding]
        existing = {str(id) for id in self.topics.values()}
        return (
            group is not None
            and group.state_name == "Stable"
            and len(group.members) == len(present)
            and sorted(partition for partition in held if partition[0] in existing) == sorted(expected)
        )

    def subscribed(self, client: Client) -> set[Partition]:
        if isinstance(client, ClassicClient):
            names = set(client.topics)
        else:
            group: Any = self.bench.shard().groups.get(GROUP)
            member = group.members.get(client.consumer.member_id) if isinstance(group, ConsumerGroup) else None
            names = set() if member is None else set(group.subscribed_topics(member))
        images = (self.bench.node.image.topic_named(name) for name in names)
        return {(str(topic.id), index) for topic in images if topic is not None for index in topic.partitions}


EVENTS: dict[str, tuple[int, Callable[[Schedule], None]]] = {
    "request": (60, Schedule.request),
    "time": (12, Schedule.let_time_pass),
    "join": (6, Schedule.join),
    "leave": (2, Schedule.leave),
    "restart": (3, Schedule.restart),
    "subscribe": (2, Schedule.subscribe),
    "create topic": (1, Schedule.create_topic),
    "delete topic": (1, Schedule.delete_topic),
    "add partition": (1, Schedule.add_partition),
    "fail over": (2, Schedule.fail_over),
}
"""What happens -> how often, and what it does."""


def state_of(bench: ConsumerBench) -> dict[str, Any]:
    """Returns everything that a consumer group has of its records."""
    group = bench.shard().groups.get(GROUP)
    if not isinstance(group, ConsumerGroup):
        return {}
    return {
        "epochs": (group.group_epoch, group.assignment_epoch, group.assignment_timestamp, group.metadata_hash),
        "members": dict(group.members),
        "target": {
            id: {topic: list(each) for topic, each in all.items()} for id, all in group.target_assignment.items()
        },
        "inverted": {topic: dict(owners) for topic, owners in group.inverted_target_assignment.items()},
        "partitions": {topic: dict(epochs) for topic, epochs in group.current_partition_epochs.items()},
        "topics": dict(group.subscribed_topic_names),
        "regular expressions": dict(group.resolved_regular_expressions),
        "counts": (group.subscribed_regular_expressions, group.server_assignors, group.classic_protocols),
        "static": dict(group.static_members),
    }
