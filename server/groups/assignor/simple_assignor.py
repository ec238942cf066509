"""The simple assignor of share groups (KIP-932): partitions may have several members.

If there are more members than partitions, every partition is shared by several members, so that
each member has something to fetch; else each partition has one member. Assignments that exist stay
as far as that allows. Only partitions whose share-partition state is initialized are assigned.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from kafkadouble.messages.uuid import Uuid

from ...java.hash_tables import JavaHashMap, JavaHashSet, integer_hash, topic_id_partition_hash, uuid_hash
from ...java.integer_set import JavaIntegerSet
from .assignment import Assignment, GroupAssignment
from .group_spec import GroupSpec
from .mutable_assignment import capacity_for, finished, mutable
from .partition_assignor import SubscribedTopicDescriber, assignable_partitions
from .partition_sharing import MemberAssignments, PartitionSharing, desired_counts, desired_sharing


class SimpleHomogeneousAssignmentBuilder:
    """One assignment of a share group whose members, of which there are some, subscribe to the same
    topics. It shares the partitions of all topics at once; members are known by their index."""

    def __init__(self, spec: GroupSpec, describer: SubscribedTopicDescriber) -> None:
        self._member_ids = list(spec.members)
        self._assignments: MemberAssignments = {
            index: member.partitions for index, member in enumerate(spec.members.values())
        }
        topic_ids = next(iter(spec.members.values())).subscribed_topic_ids
        self._is_subscribed = len(topic_ids) > 0
        self._subscribed = frozenset(topic_ids)
        targets = [
            (topic_id, partition)
            for topic_id in topic_ids
            for partition in assignable_partitions(spec, describer, topic_id)
        ]
        sharing = desired_sharing(len(self._member_ids), len(targets))
        self._desired = desired_counts(range(len(self._member_ids)), sharing * len(targets))
        self._sharing: PartitionSharing[tuple[Uuid, int]] = PartitionSharing(
            self._assignments,
            self._desired,
            targets,
            sharing,
            hash_of=topic_id_partition_hash,
            name_of=lambda partition: partition,
        )

    def build(self) -> GroupAssignment:
        """Returns the assignment; raises PartitionAssignorError."""
        if not self._is_subscribed:
            return {}
        for index, assignment in list(self._assignments.items()):
            assert not isinstance(assignment, JavaHashMap)
            self._keep(index, assignment)
        self._sharing.rebalance(JavaIntegerSet)
        return finished(dict(zip(self._member_ids, self._assignments.values(), strict=True)))

    def _keep(self, index: int, assignment: Assignment) -> None:
        count = 0
        for topic_id, partitions in assignment.items():
            if topic_id not in self._subscribed:
                mutable(self._assignments, index).remove(topic_id)
                continue
            for partition in partitions:
                self._sharing.keep(index, (topic_id, partition))
                count += 1
                if count >= self._desired[index]:
                    mutable(self._assignments, index)


class SimpleHeterogeneousAssignmentBuilder:
    """One assignment of a share group whose members subscribe to different topics. It shares the
    partitions of one topic after the other; members are known by their index.

    As in Kafka 4.4, a member keeps its partitions of a topic to which no member subscribes any
    longer.
    """

    def __init__(self, spec: GroupSpec, describer: SubscribedTopicDescriber) -> None:
        self._spec = spec
        self._assignments: MemberAssignments = {
            index: member.partitions for index, member in enumerate(spec.members.values())
        }
        topic_ids: JavaHashSet[Uuid] = JavaHashSet(uuid_hash)
        self._subscribers: dict[Uuid, list[int]] = {}
        for index, member in enumerate(spec.members.values()):
            for topic_id in member.subscribed_topic_ids:
                topic_ids.add(topic_id)
                self._subscribers.setdefault(topic_id, []).append(index)
        self._targets = {topic_id: assignable_partitions(spec, describer, topic_id) for topic_id in topic_ids}

    def build(self) -> GroupAssignment:
        """Returns the assignment; raises PartitionAssignorError."""
        if not self._targets:
            return {}
        for topic_id, targets in self._targets.items():
            self._share(topic_id, targets)
        return finished(dict(zip(self._spec.members, self._assignments.values(), strict=True)))

    def _share(self, topic_id: Uuid, targets: list[int]) -> None:
        members = self._subscribers[topic_id]
        sharing = desired_sharing(len(members), len(targets))
        partitions: PartitionSharing[int] = PartitionSharing(
            self._assignments,
            desired_counts(members, sharing * len(targets)),
            targets,
            sharing,
            hash_of=integer_hash,
            name_of=lambda partition: (topic_id, partition),
        )
        for index, member in enumerate(self._spec.members.values()):
            for partition in member.partitions.get(topic_id, ()):
                partitions.keep(index, partition)
        partitions.rebalance(partial(JavaIntegerSet, capacity_for(len(members) + 1)))


class SimpleAssignor:
    """Assigns partitions to share."""

    name: ClassVar[str] = "simple"

    def assign(self, spec: GroupSpec, describer: SubscribedTopicDescriber) -> GroupAssignment:
        """Returns the partitions of each member; raises PartitionAssignorError."""
        if not spec.members:
            return {}
        if spec.homogeneous:
            return SimpleHomogeneousAssignmentBuilder(spec, describer).build()
        return SimpleHeterogeneousAssignmentBuilder(spec, describer).build()
