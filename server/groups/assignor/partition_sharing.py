"""Shares partitions between members, as the simple assignor does in both of its builders.

Every partition should have `sharing` members, and every member a desired number of partitions.
Members with more than that, and partitions with more members, give up some; then the partitions
that lack members go to the members that lack partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import Generic, TypeAlias, TypeVar

from kafkadouble.messages.uuid import Uuid

from ...java.hash_tables import JavaHashMap, JavaHashSet, integer_hash
from ...java.integer_set import JavaIntegerSet
from .assignment import Assignment
from .mutable_assignment import MutableAssignment, add_partition, capacity_for, mutable
from .partition_assignor import PartitionAssignorError

P = TypeVar("P")
"""A partition: of one topic by its number, or of several topics by topic id and number."""

MemberAssignments: TypeAlias = dict[int, Assignment | MutableAssignment]
"""The assignment of each member, by its index in the group."""


def desired_sharing(members: int, partitions: int) -> int:
    """Returns how many members each partition should have."""
    return -(-members // partitions) if partitions else 0


def desired_counts(members: Sequence[int], assignments: int) -> dict[int, int]:
    """Divides a number of assignments evenly between members."""
    # Kafka computes with doubles, and rounds each of them up.
    precise = assignments / len(members)
    bounds = [ceil(precise * number) for number in range(len(members) + 1)]
    return {member: high - low for member, (low, high) in zip(members, pairwise(bounds), strict=True)}


class PartitionSharing(Generic[P]):
    """The members of each partition and the partitions of each member, while they change.

    `desired` has how many partitions each subscribed member should have; `name_of` returns the
    topic id and the number of a partition. Changes are made in `assignments`, too.
    """

    def __init__(
        self,
        assignments: MemberAssignments,
        desired: Mapping[int, int],
        targets: Sequence[P],
        sharing: int,
        *,
        hash_of: Callable[[P], int],
        name_of: Callable[[P], tuple[Uuid, int]],
    ) -> None:
        self._assignments = assignments
        self._desired = desired
        self._targets = targets
        self._sharing = sharing
        self._hash_of, self._name_of = hash_of, name_of
        self._members: JavaHashMap[P, JavaIntegerSet] = JavaHashMap(hash_of, capacity_for(len(targets) + 1))
        self._partitions: JavaHashMap[int, JavaHashSet[P]] = JavaHashMap(integer_hash, capacity_for(len(desired) + 1))

    def keep(self, member: int, partition: P) -> None:
        """The member is assigned this partition now."""
        self._members.compute_if_absent(partition, JavaIntegerSet).add(member)
        self._partitions_of(member).add(partition)

    def _partitions_of(self, member: int) -> JavaHashSet[P]:
        return self._partitions.compute_if_absent(member, lambda: JavaHashSet(self._hash_of))

    def _count(self, member: int) -> int:
        partitions = self._partitions.get(member)
        return 0 if partitions is None else len(partitions)

    def rebalance(self, new_member_set: Callable[[], JavaIntegerSet]) -> None:
        """Revokes what is too much, and assigns what is too little; raises PartitionAssignorError.
        `new_member_set` makes the set of members of a partition that has none."""
        self._revoke_overfilled_members()
        self._revoke_overshared_partitions()
        for partition in self._targets:
            self._members.compute_if_absent(partition, new_member_set)
        self._assign_remaining()

    def _revoke_overfilled_members(self) -> None:
        for member, partitions in self._partitions.items():
            surplus = len(partitions) - self._desired.get(member, 0)
            if surplus > 0:
                for partition in partitions.keys()[:surplus]:
                    self._revoke(member, partition)
                    self._members[partition].remove(member)
                    partitions.remove(partition, by_iterator=True)

    def _revoke(self, member: int, partition: P) -> bool:
        """Takes a partition from an assignment; returns whether it had the partition."""
        topic_id, number = self._name_of(partition)
        # A topic without partitions stays in the assignment.
        numbers = mutable(self._assignments, member).get(topic_id)
        return numbers is not None and numbers.remove(number)

    def _revoke_overshared_partitions(self) -> None:
        for partition, members in self._members.items():
            for member in members.keys() if len(members) > self._sharing else ():
                if self._revoke(member, partition):
                    members.remove(member, by_iterator=True)
                    self._partitions[member].remove(partition)
                if len(members) <= self._sharing:
                    break

    def _assign_remaining(self) -> None:
        unfilled = UnfilledMembers(member for member, count in self._desired.items() if self._count(member) < count)
        for partition, members in self._members.items():
            for _ in range(self._sharing - len(members)):
                member = unfilled.next_outside(members)
                if member is None:
                    break
                add_partition(mutable(self._assignments, member), *self._name_of(partition))
                self._partitions_of(member).add(partition)
                if self._count(member) >= self._desired[member]:
                    unfilled.remove(member)
            if not unfilled:
                break


class UnfilledMembers:
    """The members that lack partitions, in ascending order, in passes. There is another pass as
    long as one was taken in the last pass."""

    def __init__(self, members: Iterable[int]) -> None:
        self._members = dict.fromkeys(sorted(members))
        self._taken = False
        self._begin()

    def _begin(self) -> None:
        self._pass: Iterator[int] = iter(list(self._members))

    def __len__(self) -> int:
        return len(self._members)

    def next_outside(self, members: JavaIntegerSet) -> int | None:
        """Returns the next member that is not among `members`; None if a pass found none."""
        while (member := self._next()) is not None:
            if member not in members:
                self._taken = True
                return member
        return None

    def _next(self) -> int | None:
        member = next(self._pass, None)
        if member is None and self._taken:
            self._taken = False
            self._begin()
            member = next(self._pass, None)
            if member is None:
                # Kafka fails here, with Java's NoSuchElementException.
                raise PartitionAssignorError("There are fewer members than a partition needs.")
        return member

    def remove(self, member: int) -> None:
        """This member has what it needs."""
        del self._members[member]
