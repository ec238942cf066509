"""What the sticky task assignor promises, in random groups that change. `make interop-codecs`
compares the same groups with Apache Kafka's own assignor."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkadouble.server.groups.streams.assignor.sticky_task_assignor import StickyTaskAssignor
from kafkadouble.server.groups.streams.assignor.task_assignor import (
    AssignmentMember,
    MemberTasks,
    TaskAssignorError,
    TaskGroupSpec,
)
from kafkadouble.server.groups.streams.assignor.task_id import TaskId, task_ids
from tests.server.groups.streams.assignor.random_streams_group import RandomStreamsGroup

seeds = st.integers(min_value=0, max_value=2**32)
standbys = st.integers(min_value=0, max_value=3)


def rounds(
    seed: int, replicas: int, *, lone_members: bool = False
) -> Iterator[tuple[RandomStreamsGroup, dict[str, MemberTasks]]]:
    """A group after each of its assignments."""
    made = random.Random(seed)
    group = RandomStreamsGroup(made, size=made.choice([2, 8, 30]), standbys=replicas, lone_members=lone_members)
    for _ in range(4):
        assigned = StickyTaskAssignor().assign(group.spec(), group)
        yield group, assigned
        group.follow(assigned)
        group.change()


def tasks_of(tasks: Mapping[str, AbstractSet[int]]) -> list[TaskId]:
    return [TaskId(each, partition) for each, partitions in tasks.items() for partition in partitions]


@given(seeds, standbys)
@settings(max_examples=60, deadline=None)
def test_every_task_is_active_once(seed: int, replicas: int) -> None:
    for group, assigned in rounds(seed, replicas):
        active = [task for tasks in assigned.values() for task in tasks_of(tasks.active_tasks)]
        assert sorted(active) == sorted(task_ids(group, only_stateful=False))
        assert set(assigned) == set(group.members)


@given(seeds, standbys)
@settings(max_examples=60, deadline=None)
def test_a_process_has_one_copy_of_a_task_and_only_stateful_ones_on_standby(seed: int, replicas: int) -> None:
    for group, assigned in rounds(seed, replicas):
        copies: Counter[tuple[str, TaskId]] = Counter()
        on_standby: Counter[TaskId] = Counter()
        for member_id, tasks in assigned.items():
            on_standby.update(tasks_of(tasks.standby_tasks))
            for task in tasks_of(tasks.active_tasks) + tasks_of(tasks.standby_tasks):
                copies[group.members[member_id].process_id, task] += 1
        assert not copies or max(copies.values()) == 1
        processes = len({member.process_id for member in group.members.values()})
        expected = min(replicas, processes - 1)
        assert on_standby == {task: expected for task in task_ids(group, only_stateful=True) if expected}


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_tasks_stay_where_they_are_if_nothing_changes(seed: int) -> None:
    """Processes have one member each. Where they have more, Kafka's assignor moves some tasks."""
    for group, assigned in rounds(seed, 0, lone_members=True):
        group.follow(assigned)
        assert StickyTaskAssignor().assign(group.spec(), group) == assigned


class OneSubtopology:
    def subtopologies(self) -> list[str]:
        return ["0"]

    def max_num_input_partitions(self, subtopology_id: str) -> int:
        return 4

    def is_stateful(self, subtopology_id: str) -> bool:
        return True


def member(
    process_id: str,
    active: AbstractSet[int] = frozenset(),
    standby: AbstractSet[int] = frozenset(),
    offsets: Mapping[int, int] | None = None,
) -> AssignmentMember:
    return AssignmentMember(
        None, None, process_id, {}, {"0": active}, {"0": standby}, {}, {"0": offsets} if offsets else {}, {}
    )


def assign(members: dict[str, AssignmentMember], replicas: int = 0) -> dict[str, MemberTasks]:
    return StickyTaskAssignor().assign(TaskGroupSpec(members, replicas, []), OneSubtopology())


def test_a_new_process_takes_only_what_is_too_much() -> None:
    assigned = assign({"a": member("p", {0, 1, 2, 3}), "b": member("q")})
    assert assigned["a"].active_tasks == {"0": {0, 1}}
    assert assigned["b"].active_tasks == {"0": {2, 3}}


def test_a_standby_task_becomes_active_where_its_state_is() -> None:
    assigned = assign({"a": member("p", standby={1, 3}), "b": member("q", standby={0, 2})})
    assert [assigned[each].active_tasks for each in "ab"] == [{"0": {1, 3}}, {"0": {0, 2}}]


def test_more_state_is_better_but_a_standby_task_is_best() -> None:
    members = {
        "a": member("p", offsets={0: 10, 1: 90}),
        "b": member("q", offsets={0: 90, 1: 10}),
        "c": member("r", standby={2}),
        "d": member("s", offsets={2: 1000}),
    }
    assigned = assign(members)
    assert [assigned[each].active_tasks for each in "abcd"] == [{"0": {1}}, {"0": {0}}, {"0": {2}}, {"0": {3}}]


def test_a_group_without_members_cannot_have_tasks() -> None:
    with pytest.raises(TaskAssignorError, match="No process available to assign active task 0_0"):
        assign({})
