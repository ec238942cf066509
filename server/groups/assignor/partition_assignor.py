"""The interface of a partition assignor (KIP-848), and of what describes the topics to it."""

from __future__ import annotations

from typing import ClassVar, Protocol

from kafkadouble.messages.uuid import Uuid

from .assignment import GroupAssignment
from .group_spec import GroupSpec

UNKNOWN_TOPIC = -1
"""The number of partitions of a topic that does not exist."""


class PartitionAssignorError(Exception):
    """The group cannot be assigned; the target assignment stays as it is."""


class SubscribedTopicDescriber(Protocol):
    """Describes the topics to which the members subscribe."""

    def num_partitions(self, topic_id: Uuid) -> int:
        """Returns how many partitions the topic has, UNKNOWN_TOPIC if it does not exist."""

    def racks_for_partition(self, topic_id: Uuid, partition: int) -> frozenset[str]:
        """Returns the racks of the replicas of a partition."""


class PartitionAssignor(Protocol):
    """Computes the target assignment of a group."""

    name: ClassVar[str]

    def assign(self, spec: GroupSpec, describer: SubscribedTopicDescriber) -> GroupAssignment:
        """Returns the partitions of each member; raises PartitionAssignorError."""


def partition_count(describer: SubscribedTopicDescriber, topic_id: Uuid) -> int:
    """Returns how many partitions a subscribed topic has; raises PartitionAssignorError if it does
    not exist."""
    count = describer.num_partitions(topic_id)
    if count == UNKNOWN_TOPIC:
        raise PartitionAssignorError(
            f"Members are subscribed to topic {topic_id} which doesn't exist in the topic metadata."
        )
    return count


def assignable_partitions(spec: GroupSpec, describer: SubscribedTopicDescriber, topic_id: Uuid) -> list[int]:
    """Returns the partitions of a subscribed topic that may be assigned; raises
    PartitionAssignorError if the topic does not exist."""
    count = partition_count(describer, topic_id)
    return [partition for partition in range(count) if spec.is_partition_assignable(topic_id, partition)]
