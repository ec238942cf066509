"""Builds the simple assignment of a share group whose members all subscribe to the same topics."""

from __future__ import annotations

from kafkadouble.messages.uuid import Uuid

from ...java.hash_tables import JavaHashMap, topic_id_partition_hash
from ...java.integer_set import JavaIntegerSet
from .assignment import Assignment, GroupAssignment
from .group_spec import GroupSpec
from .mutable_assignment import finished, mutable
from .partition_assignor import SubscribedTopicDescriber, assignable_partitions
from .partition_sharing import MemberAssignments, PartitionSharing, desired_counts, desired_sharing


class SimpleHomogeneousAssignmentBuilder:
    """One assignment of one share group, which has members. It shares the partitions of all topics
    at once; members are known by their index."""

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
