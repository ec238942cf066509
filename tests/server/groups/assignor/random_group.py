"""A group that changes at random, for the tests of partition assignors: members join and leave,
topics are created, deleted and extended, and each assignment is the input of the next one."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.assignor.assignment import Assignment, GroupAssignment, assignment_of
from kafkadouble.server.groups.assignor.group_spec import GroupSpec, MemberSubscriptionAndAssignment
from kafkadouble.server.groups.assignor.topic_ids import TopicIds
from kafkadouble.server.java.hash_tables import hash_map_order, hash_set_copy_order, string_hash

Record = list[tuple[Uuid, list[int]]]
"""The partitions of a target assignment record, in its order."""


def as_record(assignment: Assignment) -> Record:
    return [(topic_id, list(partitions)) for topic_id, partitions in assignment.items()]


class Topics:
    """The topics that exist; describes them to an assignor."""

    def __init__(self) -> None:
        self.ids: dict[str, Uuid] = {}
        self.partitions: dict[Uuid, int] = {}

    def create(self, name: str, topic_id: Uuid, partitions: int) -> None:
        self.ids[name] = topic_id
        self.partitions[topic_id] = partitions

    def delete(self, name: str) -> None:
        del self.partitions[self.ids.pop(name)]

    def num_partitions(self, topic_id: Uuid) -> int:
        return self.partitions.get(topic_id, -1)

    def racks_for_partition(self, topic_id: Uuid, partition: int) -> frozenset[str]:
        return frozenset()


@dataclass
class Member:
    instance_id: str | None
    topics: list[str]
    record: Record = field(default_factory=list)


class RandomGroup:
    """One group of at most about `size` members at first. `members` are in the order in which they
    joined. If it is `shared`, only some partitions may be assigned, or all that exist."""

    def __init__(
        self,
        made: random.Random,
        *,
        homogeneous: bool,
        shared: bool = False,
        all_initialized: bool = False,
        size: int = 12,
    ) -> None:
        self.made, self.homogeneous, self.all_initialized = made, homogeneous, all_initialized
        self.topics = Topics()
        self.members: dict[str, Member] = {}
        self.assignable: dict[Uuid, list[int]] | None = {} if shared else None
        for _ in range(made.randrange(1, 6)):
            self.create_topic()
        for _ in range(made.randrange(1, size)):
            self.join()
        self.initialize_partitions()

    def create_topic(self) -> None:
        name = f"topic-{self.made.randrange(1_000_000)}"
        most = self.made.choice([1, 3, 12, 40, 200])
        self.topics.create(name, Uuid.random(self.made.randbytes), self.made.randrange(most + 1))
        if self.homogeneous and self.members and self.made.random() < 0.7:
            subscribed = next(iter(self.members.values())).topics
            self.subscribe_all([*subscribed, name])

    def subscribe_all(self, names: list[str]) -> None:
        for member in self.members.values():
            member.topics = self.made.sample(names, len(names))

    def subscription(self) -> list[str]:
        names = ["missing", *self.topics.ids]
        return self.made.sample(names, self.made.randrange(len(names) + 1))

    def join(self) -> None:
        static = self.made.random() < 0.2
        names = self.subscription()
        if self.homogeneous and self.members:
            names = list(next(iter(self.members.values())).topics)
            self.made.shuffle(names)
        prefix = self.made.choice(["", "consumer-", "é\U0001f600", "\uffff"])
        instance = f"instance-{self.made.randrange(10**6)}" if static else None
        self.members[f"{prefix}{Uuid.random(self.made.randbytes)}"] = Member(instance, names)

    def leave(self) -> None:
        if len(self.members) > 1:
            del self.members[self.made.choice(list(self.members))]

    def change_subscription(self) -> None:
        if self.homogeneous:
            self.subscribe_all(self.subscription())
        else:
            self.made.choice(list(self.members.values())).topics = self.subscription()

    def delete_topic(self) -> None:
        if self.topics.ids:
            self.topics.delete(self.made.choice(list(self.topics.ids)))

    def add_partitions(self) -> None:
        for topic_id in self.made.sample(list(self.topics.partitions), min(1, len(self.topics.partitions))):
            self.topics.partitions[topic_id] += self.made.randrange(1, 30)

    def initialize_partitions(self) -> None:
        """The share-partition state of some partitions, most often of all, is initialized."""
        if self.assignable is not None:
            most = 1 if self.all_initialized else self.made.choice([0.5, 1, 1, 1])
            self.assignable = {
                topic_id: [number for number in range(count) if self.made.random() <= most]
                for topic_id, count in self.topics.partitions.items()
                if self.made.random() <= most
            }

    def change(self) -> None:
        """Anything that changes the assignment of a group."""
        changes = [self.join, self.leave] * 3
        changes += [self.change_subscription, self.create_topic, self.delete_topic, self.add_partitions]
        for _ in range(self.made.choice([1, 1, 1, 2, 5])):
            self.made.choice(changes)()
        self.initialize_partitions()

    def spec(self) -> GroupSpec:
        """What the assignor is given."""
        inverted: dict[Uuid, set[int]] = {}
        for member in self.members.values():
            for topic_id, partitions in member.record:
                inverted.setdefault(topic_id, set()).update(partitions)
        return GroupSpec(
            {member_id: self.subscribed(member_id) for member_id in hash_map_order(self.members, string_hash)},
            self.homogeneous,
            inverted,
            self.assignable,
        )

    def subscribed(self, member_id: str) -> MemberSubscriptionAndAssignment:
        member = self.members[member_id]
        names = hash_set_copy_order(member.topics, string_hash)
        topic_ids = TopicIds(names, self.topics.ids.get)
        return MemberSubscriptionAndAssignment(None, member.instance_id, topic_ids, assignment_of(member.record))

    def follow(self, assignment: GroupAssignment) -> None:
        """Each record whose assignment changed is written."""
        for member_id, member in self.members.items():
            new = assignment.get(member_id, {})
            if new != assignment_of(member.record):
                member.record = as_record(new)

    def question(self, assignor: str) -> dict[str, Any]:
        """The same as JSON, for Kafka."""
        return {
            "op": "assign",
            "assignor": assignor,
            "homogeneous": self.homogeneous,
            "topics": [
                [name, str(topic_id), self.topics.partitions[topic_id]] for name, topic_id in self.topics.ids.items()
            ],
            "members": [
                {
                    "member_id": member_id,
                    "instance_id": member.instance_id,
                    "topics": member.topics,
                    "assignment": as_json(member.record),
                }
                for member_id, member in self.members.items()
            ],
            "assignable": None if self.assignable is None else as_json(list(self.assignable.items())),
        }


def as_json(record: Record) -> list[list[Any]]:
    return [[str(topic_id), partitions] for topic_id, partitions in record]


def answer_of(assignment: Mapping[str, Assignment]) -> dict[str, Any]:
    return {member_id: as_json(as_record(each)) for member_id, each in assignment.items()}
