"""What the assignors promise, in random groups that change. `make interop-codecs` compares the same
groups with Apache Kafka's own assignors."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.assignor.assignment import Assignment, GroupAssignment
from kafkadouble.server.groups.assignor.group_spec import GroupSpec
from kafkadouble.server.groups.assignor.partition_assignor import PartitionAssignor
from kafkadouble.server.groups.assignor.range_assignor import RangeAssignor
from kafkadouble.server.groups.assignor.simple_assignor import SimpleAssignor
from kafkadouble.server.groups.assignor.uniform_assignor import UniformAssignor
from tests.server.groups.assignor.random_group import RandomGroup

TopicPartition = tuple[Uuid, int]
Round = tuple[RandomGroup, GroupSpec, GroupAssignment]
seeds = st.integers(min_value=0, max_value=2**32)


def rounds_of(assignor: PartitionAssignor, seed: int, homogeneous: bool) -> Iterator[Round]:
    """A group after each of its assignments."""
    made = random.Random(seed)
    group = RandomGroup(
        made,
        homogeneous=homogeneous,
        shared=assignor.name == "simple",
        all_initialized=True,
        size=made.choice([3, 12, 40]),
    )
    for _ in range(4):
        spec = group.spec()
        assigned = assignor.assign(spec, group.topics)
        yield group, spec, assigned
        group.follow(assigned)
        group.change()


def partitions_of(assignment: Assignment) -> set[TopicPartition]:
    return {(topic_id, partition) for topic_id, partitions in assignment.items() for partition in partitions}


def owners(assigned: GroupAssignment) -> Counter[TopicPartition]:
    return Counter(partition for assignment in assigned.values() for partition in partitions_of(assignment))


def assignable(group: RandomGroup, spec: GroupSpec) -> set[TopicPartition]:
    """The partitions to which a member subscribes."""
    return {
        (topic_id, partition)
        for member in spec.members.values()
        for topic_id in member.subscribed_topic_ids
        for partition in range(group.topics.partitions[topic_id])
    }


def sizes(assigned: GroupAssignment) -> list[int]:
    return [len(partitions_of(assignment)) for assignment in assigned.values()]


ASSIGNORS: list[PartitionAssignor] = [RangeAssignor(), UniformAssignor(), SimpleAssignor()]
every_assignor = pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda assignor: assignor.name)


@every_assignor
@given(seeds, st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_partition_is_assigned_to_a_subscriber(assignor: PartitionAssignor, seed: int, homogeneous: bool) -> None:
    for group, spec, assigned in rounds_of(assignor, seed, homogeneous):
        found = owners(assigned)
        assert assignable(group, spec) <= set(found)
        if assignor.name != "simple":
            assert set(found.values()) <= {1}
            for member_id, assignment in assigned.items():
                assert set(assignment) <= set(spec.members[member_id].subscribed_topic_ids)
                assert all(assignment.values())


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_uniform_assignor_is_balanced_and_sticky(seed: int) -> None:
    for _, spec, assigned in rounds_of(UniformAssignor(), seed, True):
        if not assigned:
            continue
        total = sum(sizes(assigned))
        quota, extra = divmod(total, len(assigned))
        assert sorted(sizes(assigned)) == [quota] * (len(assigned) - extra) + [quota + 1] * extra
        for member_id, member in spec.members.items():
            still = {each for each in partitions_of(member.partitions) if each[0] in member.subscribed_topic_ids}
            kept = still & partitions_of(assigned[member_id])
            assert len(kept) >= min(len(still), quota)


@given(seeds, st.booleans())
@settings(max_examples=60, deadline=None)
def test_uniform_assignor_keeps_an_unchanged_assignment(seed: int, homogeneous: bool) -> None:
    for group, _, assigned in rounds_of(UniformAssignor(), seed, homogeneous):
        group.follow(assigned)
        assert UniformAssignor().assign(group.spec(), group.topics) == assigned


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_uniform_moves_no_partition_that_would_balance_two_members(seed: int) -> None:
    for _, spec, assigned in rounds_of(UniformAssignor(), seed, False):
        for giver, gives in assigned.items():
            for taker, takes in assigned.items():
                common = [give for give in gives if give in spec.members[taker].subscribed_topic_ids]
                size = len(partitions_of(gives)) - len(partitions_of(takes))
                assert size <= 1 or not common, (giver, taker)


@given(seeds, st.booleans())
@settings(max_examples=60, deadline=None)
def test_range_gives_consecutive_partitions_of_even_size(seed: int, homogeneous: bool) -> None:
    for group, spec, assigned in rounds_of(RangeAssignor(), seed, homogeneous):
        for topic_id, count in group.topics.partitions.items():
            subscribers = [each for each, member in spec.members.items() if topic_id in member.subscribed_topic_ids]
            ranges = [list(assigned[subscriber].get(topic_id, ())) for subscriber in subscribers]
            even = count // len(subscribers) if subscribers else 0
            for partitions in ranges:
                assert partitions == list(range(partitions[0], partitions[0] + len(partitions))) if partitions else True
                assert len(partitions) in (even, even + 1)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_simple_shares_no_partition_more_than_needed_and_begins_with_no_idle_member(seed: int) -> None:
    for group, spec, assigned in rounds_of(SimpleAssignor(), seed, True):
        targets = assignable(group, spec)
        if targets:
            sharing = -(-len(assigned) // len(targets))
            found = owners(assigned)
            assert all(found[partition] <= sharing for partition in targets)
            # From an assignment that exists, Kafka's algorithm can leave a member idle.
            assert min(sizes(assigned)) >= 1 or any(member.partitions for member in spec.members.values())
