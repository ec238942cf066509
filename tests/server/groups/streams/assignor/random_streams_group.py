"""A streams group that changes at random, for the tests of the task assignor: members and processes
come and die, and each assignment is the input of the next one."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from kafkadouble.server.groups.streams.assignor.task_assignor import AssignmentMember, MemberTasks, TaskGroupSpec
from kafkadouble.server.java.hash_tables import hash_map_order, string_hash


@dataclass
class Member:
    process_id: str
    active: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    standby: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    offsets: dict[str, dict[int, int]] = field(default_factory=dict)


class RandomStreamsGroup:
    """One group. `by_id` has the number of tasks of each subtopology, and whether it has state."""

    def __init__(self, made: random.Random, *, size: int = 8, standbys: int = 0, lone_members: bool = False) -> None:
        self.made, self.standbys, self.lone_members = made, standbys, lone_members
        self.by_id: dict[str, tuple[int, bool]] = {}
        self.members: dict[str, Member] = {}
        self.processes = [f"process-{made.randrange(10**6)}" for _ in range(made.randrange(1, size))]
        for _ in range(made.randrange(1, 6)):
            name = made.choice(["", "subtopology-", "\U0001f600", "\uffff"])
            self.by_id[f"{name}{made.randrange(12)}"] = (made.randrange(made.choice([2, 9, 70])), made.random() < 0.7)
        for _ in range(made.randrange(1, 2 * size)):
            self.join()

    # What describes the topology.

    def subtopologies(self) -> Sequence[str]:
        return [*self.by_id]

    def max_num_input_partitions(self, subtopology_id: str) -> int:
        return self.by_id[subtopology_id][0]

    def is_stateful(self, subtopology_id: str) -> bool:
        return self.by_id[subtopology_id][1]

    # Changes.

    def join(self) -> None:
        if self.lone_members or self.made.random() < 0.2:
            self.processes.append(f"process-{self.made.randrange(10**6)}")
        self.members[f"member-{self.made.randrange(10**9)}"] = Member(
            self.processes[-1] if self.lone_members else self.made.choice(self.processes)
        )

    def leave(self) -> None:
        if len(self.members) > 1:
            del self.members[self.made.choice(list(self.members))]

    def die(self) -> None:
        """A process ends with all its members."""
        process = self.made.choice(self.processes)
        rest = {each: member for each, member in self.members.items() if member.process_id != process}
        self.members = rest or self.members

    def report_offsets(self) -> None:
        """A member reports what state it has, also of tasks that it does not have now."""
        member = self.made.choice(list(self.members.values()))
        for subtopology_id, (count, stateful) in self.by_id.items():
            if stateful and count:
                partitions = self.made.sample(range(count), self.made.randrange(count + 1))
                member.offsets[subtopology_id] = {
                    each: self.made.choice([0, 5, 1000, self.made.randrange(1 << 40)]) for each in partitions
                }

    def lose_tasks(self) -> None:
        """A member has not got all tasks yet, or another member still has one of them."""
        some, other = self.made.choices(list(self.members.values()), k=2)
        some.active, other.active = {}, some.active

    def change(self) -> None:
        changes = [self.join, self.leave, self.report_offsets] * 2 + [self.die, self.lose_tasks]
        for _ in range(self.made.choice([1, 1, 2, 5])):
            self.made.choice(changes)()

    def follow(self, assigned: Mapping[str, MemberTasks]) -> None:
        for member_id, tasks in assigned.items():
            member = self.members[member_id]
            member.active, member.standby = tasks

    # What the assignor is given.

    def spec(self) -> TaskGroupSpec:
        members = {each: self.members[each] for each in hash_map_order(self.members, string_hash)}
        return TaskGroupSpec(
            {
                member_id: AssignmentMember(
                    None, None, member.process_id, {}, member.active, member.standby, {}, member.offsets, {}
                )
                for member_id, member in members.items()
            },
            self.standbys,
            [],
        )

    def question(self) -> dict[str, Any]:
        """The same as JSON, for Kafka."""
        return {
            "op": "assign_tasks",
            "standbys": self.standbys,
            "subtopologies": [[each, *described] for each, described in self.by_id.items()],
            "members": [
                {
                    "member_id": member_id,
                    "process_id": member.process_id,
                    "active": as_json(member.active),
                    "standby": as_json(member.standby),
                    "offsets": {each: [*map(list, offsets.items())] for each, offsets in member.offsets.items()},
                }
                for member_id, member in self.members.items()
            ],
        }


def as_json(tasks: Mapping[str, AbstractSet[int]]) -> dict[str, list[int]]:
    return {subtopology_id: sorted(partitions) for subtopology_id, partitions in tasks.items()}


def answer_of(assigned: Mapping[str, MemberTasks]) -> dict[str, Any]:
    """An assignment as Kafka answers it."""
    return {member_id: [as_json(tasks) for tasks in each] for member_id, each in assigned.items()}
