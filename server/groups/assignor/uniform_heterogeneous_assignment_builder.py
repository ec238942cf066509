"""Builds the uniform assignment of a group whose members subscribe to different topics.

1. Each member keeps its partitions of the topics to which it still subscribes.
2. Partitions without a member go to the subscriber with the fewest partitions, topic by topic:
   first the topics with the most partitions per subscriber.
3. Topics are balanced in the same order, again and again until none changes, at most 16 times:
   partitions move from the subscribers with the most partitions to those with the fewest.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Any

from kafkadouble.messages.uuid import Uuid

from ...java.integer_set import JavaIntegerSet
from .assignment import Assignment, GroupAssignment
from .group_spec import GroupSpec, MemberSubscriptionAndAssignment
from .member_assignment_balancer import MemberAssignmentBalancer
from .mutable_assignment import (
    MutableAssignment,
    add_partition,
    capacity_for,
    copy_assignment,
    discard_partition,
    finished,
    mutable,
)
from .partition_assignor import SubscribedTopicDescriber, partition_count

MAX_ITERATION_COUNT = 16

_UNASSIGNED = -1
_signed_halves = Struct(">2q").unpack


class UniformHeterogeneousAssignmentBuilder:
    """One assignment of one group. Members are known by their index."""

    def __init__(self, spec: GroupSpec, describer: SubscribedTopicDescriber) -> None:
        self._spec = spec
        self._member_ids = list(spec.members)
        self._subscribers: dict[Uuid, list[int]] = {}
        self._owners: dict[Uuid, list[int]] = {}
        for index, member in enumerate(spec.members.values()):
            for topic_id in member.subscribed_topic_ids:
                if topic_id not in self._owners:
                    self._owners[topic_id] = [_UNASSIGNED] * partition_count(describer, topic_id)
                self._subscribers.setdefault(topic_id, []).append(index)
        self._target: dict[str, Assignment | MutableAssignment] = {}
        self._sizes = [0] * len(self._member_ids)
        self._balancer = MemberAssignmentBalancer(self._sizes)

    def build(self) -> GroupAssignment:
        """Returns the assignment; raises PartitionAssignorError."""
        if not self._owners:
            return {}
        for index, (member_id, member) in enumerate(self._spec.members.items()):
            self._target[member_id] = self._kept(index, member)
        self._assign_remaining()
        self._balance()
        return finished(self._target)

    def _kept(self, index: int, member: MemberSubscriptionAndAssignment) -> Assignment | MutableAssignment:
        changed: MutableAssignment | None = None
        for topic_id, partitions in member.partitions.items():
            if topic_id in member.subscribed_topic_ids:
                self._sizes[index] += len(partitions)
                owners = self._owners[topic_id]
                for partition in partitions:
                    owners[partition] = index
            else:
                if changed is None:
                    changed = copy_assignment(member.partitions)
                changed.remove(topic_id)
        return member.partitions if changed is None else changed

    def _sorted(self, topic_ids: Iterable[Uuid]) -> list[Uuid]:
        return sorted(topic_ids, key=self._topic_order)

    def _topic_order(self, topic_id: Uuid) -> Any:
        subscribers = len(self._subscribers[topic_id])
        return -len(self._owners[topic_id]) / subscribers, subscribers, _signed_halves(topic_id)

    def _assign_remaining(self) -> None:
        unassigned = {
            topic_id: [partition for partition, owner in enumerate(owners) if owner == _UNASSIGNED]
            for topic_id, owners in self._owners.items()
            if _UNASSIGNED in owners
        }
        for topic_id in self._sorted(unassigned):
            self._balancer.initialize(self._subscribers[topic_id])
            for partition in unassigned[topic_id]:
                self._assign(topic_id, partition, self._balancer.next_least_loaded_member())

    def _balance(self) -> None:
        topic_ids = self._sorted(topic_id for topic_id, members in self._subscribers.items() if len(members) > 1)
        last_changed: Uuid | None = None
        for _ in range(MAX_ITERATION_COUNT):
            for topic_id in topic_ids:
                if topic_id == last_changed:
                    return
                if self._balance_topic(topic_id) or last_changed is None:
                    last_changed = topic_id

    def _balance_topic(self, topic_id: Uuid) -> bool:
        """Moves partitions of one topic; returns whether any was moved."""
        balancer, moved = self._balancer, False
        if balancer.initialize(self._subscribers[topic_id]) <= 1:
            return moved
        owned = self._owned(topic_id)
        while not balancer.is_balanced():
            partition = self._next_partition(owned)
            if partition is None:
                return moved
            member = balancer.next_least_loaded_member()
            if balancer.is_balanced():
                return moved
            self._assign(topic_id, partition, member)
            moved = True
        return moved

    def _owned(self, topic_id: Uuid) -> dict[int, list[int]]:
        """Returns the partitions of a topic that each member has, in ascending order."""
        owned: dict[int, list[int]] = {}
        for partition, owner in enumerate(self._owners[topic_id]):
            owned.setdefault(owner, []).append(partition)
        return owned

    def _next_partition(self, owned: dict[int, list[int]]) -> int | None:
        """Takes the last partition of the most loaded member that has one."""
        while (member := self._balancer.next_most_loaded_member()) is not None:
            if owned.get(member):
                return owned[member].pop()
            self._balancer.exclude_most_loaded_member()
        return None

    def _assign(self, topic_id: Uuid, partition: int, member: int) -> None:
        owners = self._owners[topic_id]
        previous = owners[partition]
        if previous != _UNASSIGNED:
            discard_partition(mutable(self._target, self._member_ids[previous]), topic_id, partition)
            self._sizes[previous] -= 1
        owners[partition] = member
        self._sizes[member] += 1
        assignment = mutable(self._target, self._member_ids[member])
        add_partition(assignment, topic_id, partition, lambda: self._new_set(topic_id))

    def _new_set(self, topic_id: Uuid) -> JavaIntegerSet:
        """Returns a set that is made for an even part of the topic."""
        even = -(-len(self._owners[topic_id]) // len(self._subscribers[topic_id]))
        return JavaIntegerSet(capacity_for(even))
