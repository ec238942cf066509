"""Builds the simple assignment of a share group whose members subscribe to different topics.

It shares the partitions of one topic after the other. As in Kafka 4.4, a member keeps its
partitions of a topic to which no member subscribes any longer.
"""

from __future__ import annotations

from functools import partial

from kafkadouble.messages.uuid import Uuid

from ...java.hash_tables import JavaHashSet, integer_hash, uuid_hash
from ...java.integer_set import JavaIntegerSet
from .assignment import GroupAssignment
from .group_spec import GroupSpec
from .mutable_assignment import capacity_for, finished
from .partition_assignor import SubscribedTopicDescriber, assignable_partitions
from .partition_sharing import MemberAssignments, PartitionSharing, desired_counts, desired_sharing


class SimpleHeterogeneousAssignmentBuilder:
    """One assignment of one share group. Members are known by their index."""

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
