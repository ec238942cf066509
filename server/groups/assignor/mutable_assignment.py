"""An assignment while an assignor changes it: Java's hash tables, as in Kafka's `AssignorHelpers`.

An assignor keeps the assignment of a member as it is until it must change it; then it changes a
copy. The order of the copy can differ from that of the original.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from kafkadouble.messages.uuid import Uuid

from ...java.hash_tables import JavaHashMap, uuid_hash
from ...java.integer_set import JavaIntegerSet
from .assignment import Assignment, GroupAssignment, PartitionSet

Member = TypeVar("Member", str, int)

MutableAssignment: TypeAlias = JavaHashMap[Uuid, JavaIntegerSet]


def capacity_for(size: int) -> int:
    """Returns the capacity with which Kafka creates a table for `size` keys."""
    return size * 4 // 3 + 1


def copy_assignment(assignment: Assignment) -> MutableAssignment:
    """Returns a copy that can be changed."""
    copy: MutableAssignment = JavaHashMap(uuid_hash, len(assignment))
    for topic_id, partitions in assignment.items():
        copy.put(topic_id, JavaIntegerSet.copy(partitions))
    return copy


def mutable(assignments: dict[Member, Assignment | MutableAssignment], member: Member) -> MutableAssignment:
    """Returns the assignment of a member, which is replaced by a copy if it cannot be changed."""
    assignment = assignments[member]
    if not isinstance(assignment, JavaHashMap):
        assignment = assignments[member] = copy_assignment(assignment)
    return assignment


def add_partition(
    assignment: MutableAssignment,
    topic_id: Uuid,
    partition: int,
    new_set: Callable[[], JavaIntegerSet] = JavaIntegerSet,
) -> None:
    """Adds a partition; `new_set` makes the set of a topic that the assignment does not have."""
    assignment.compute_if_absent(topic_id, new_set).add(partition)


def discard_partition(assignment: MutableAssignment, topic_id: Uuid, partition: int) -> None:
    """Removes a partition, and its topic if no partition is left."""
    partitions = assignment.get(topic_id)
    if partitions is not None:
        partitions.remove(partition)
        if not partitions:
            assignment.remove(topic_id)


def finished(assignments: Mapping[str, Assignment | MutableAssignment]) -> GroupAssignment:
    """Returns the assignment of each member, which no longer changes."""
    return {
        member_id: _frozen(assignment) if isinstance(assignment, JavaHashMap) else assignment
        for member_id, assignment in assignments.items()
    }


def _frozen(assignment: MutableAssignment) -> Assignment:
    return {topic_id: PartitionSet(partitions.keys()) for topic_id, partitions in assignment.items()}
