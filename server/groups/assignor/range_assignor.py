"""The range assignor: each member gets consecutive partitions of each of its topics (KIP-848).

The members are sorted: first static members by instance id, then the others by member id. Of each
topic, every subscriber gets the same number of partitions, and the first ones one more if there is
a remainder. So topics with the same number of partitions and subscribers are co-partitioned. The
current assignment plays no part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import ClassVar

from kafkadouble.messages.uuid import Uuid

from ...java.hash_tables import JavaHashMap, uuid_hash
from ...java.strings import java_order
from .assignment import Assignment, GroupAssignment, PartitionSet
from .group_spec import GroupSpec, MemberSubscriptionAndAssignment
from .mutable_assignment import capacity_for
from .partition_assignor import UNKNOWN_TOPIC, PartitionAssignorError, SubscribedTopicDescriber


class _TopicRanges:
    """Gives the partitions of one topic to its subscribers, one after the other."""

    __slots__ = ("_extra", "_next", "_quota")

    def __init__(self, num_partitions: int, num_members: int) -> None:
        self._quota, self._extra = divmod(num_partitions, num_members)
        self._next = 0

    def next_range(self) -> range:
        """Returns the partitions of the next member, possibly none."""
        size = self._quota + (self._extra > 0)
        self._extra -= 1
        start = self._next
        self._next = start + size
        return range(start, self._next)


class RangeAssignor:
    """Assigns ranges of partitions."""

    name: ClassVar[str] = "range"

    def assign(self, spec: GroupSpec, describer: SubscribedTopicDescriber) -> GroupAssignment:
        """Returns the partitions of each member; raises PartitionAssignorError."""
        subscriptions = _subscriptions(spec)
        subscribers = Counter(topic_id for topic_ids in subscriptions.values() for topic_id in topic_ids)
        topics = {
            topic_id: _TopicRanges(_num_partitions(describer, topic_id), count)
            for topic_id, count in subscribers.items()
        }
        return {member_id: _next_ranges(topic_ids, topics) for member_id, topic_ids in subscriptions.items()}


def _subscriptions(spec: GroupSpec) -> dict[str, Collection[Uuid]]:
    """Returns the topics of each member, in the order in which members get their ranges."""
    members = sorted(spec.members.items(), key=_order)
    if members and spec.homogeneous:
        topic_ids = list(members[0][1].subscribed_topic_ids)
        return dict.fromkeys((member_id for member_id, _ in members), topic_ids)
    return {member_id: member.subscribed_topic_ids for member_id, member in members}


def _order(item: tuple[str, MemberSubscriptionAndAssignment]) -> tuple[bool, bytes]:
    member_id, member = item
    if member.instance_id is None:
        return True, java_order(member_id)
    return False, java_order(member.instance_id)


def _num_partitions(describer: SubscribedTopicDescriber, topic_id: Uuid) -> int:
    count = describer.num_partitions(topic_id)
    if count == UNKNOWN_TOPIC:
        raise PartitionAssignorError("Member is subscribed to a non-existent topic")
    return count


def _next_ranges(topic_ids: Collection[Uuid], topics: dict[Uuid, _TopicRanges]) -> Assignment:
    assignment: JavaHashMap[Uuid, PartitionSet] = JavaHashMap(uuid_hash, capacity_for(len(topic_ids)))
    for topic_id in topic_ids:
        partitions = topics[topic_id].next_range()
        if partitions:
            assignment.put(topic_id, PartitionSet(partitions))
    return dict(assignment.items())
