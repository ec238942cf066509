"""The input of a partition assignor: the members of a group, their subscriptions and assignments.

The members come in the order of Kafka's collection of members, which the result depends on.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid

from .assignment import EMPTY_ASSIGNMENT, Assignment


class MemberSubscriptionAndAssignment(NamedTuple):
    """One member. `subscribed_topic_ids` is a TopicIds, or iterates in the same order; `partitions`
    is the member's current target assignment. Kafka 4.4's assignors do not use the rack."""

    rack_id: str | None
    instance_id: str | None
    subscribed_topic_ids: Collection[Uuid]
    partitions: Assignment = EMPTY_ASSIGNMENT


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """One group. It is homogeneous if all members subscribe to the same topics.

    `inverted_target_assignment` has the partitions that any member is assigned, by topic id.
    `assignable_partitions` has those that may be assigned in a share group; None means all.
    """

    members: Mapping[str, MemberSubscriptionAndAssignment]
    homogeneous: bool
    inverted_target_assignment: Mapping[Uuid, Container[int]] = field(default_factory=dict)
    assignable_partitions: Mapping[Uuid, Container[int]] | None = None

    def is_partition_assignable(self, topic_id: Uuid, partition: int) -> bool:
        """Returns whether the partition may be assigned."""
        assignable = self.assignable_partitions
        return assignable is None or partition in assignable.get(topic_id, ())
