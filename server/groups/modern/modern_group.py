"""The common base of consumer groups and share groups (KIP-848, KIP-932): members, group epoch,
target assignment.

    group epoch         grows when a subscription or a subscribed topic changes
    assignment epoch    the group epoch for which the target assignment was computed
    member epoch        the assignment epoch that the member has reached

Rules. All of it is replayed from records; only `metadata_refresh_deadline` is in memory. A topic
partition has at most one member in the target assignment of a consumer group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from kafkadouble.messages.uuid import Uuid

from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment, PartitionSet
from .heartbeat_group import HeartbeatGroup
from .metadata_hash import compute_metadata_hash
from .modern_group_member import ModernGroupMember
from .subscription_count import SubscribedTopicNames, add_names

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

M = TypeVar("M", bound=ModernGroupMember)

NO_PARTITIONS = PartitionSet()

UNKNOWN_TIME = 0

NO_REFRESH_MS = 2**31 - 1
"""How long (ms) the metadata hash of a group stays valid if no topic changes."""


class DeadlineAndEpoch(NamedTuple):
    """When the metadata hash must be computed again (ms), and the group epoch of the last one."""

    deadline_ms: int
    epoch: int


class ModernGroup(HeartbeatGroup[M], Generic[M]):
    """One group whose assignment the coordinator computes."""

    records: ClassVar[Any]
    """The module with the records of this type of group."""

    def __init__(self, shard: GroupCoordinatorShard, group_id: str) -> None:
        super().__init__(shard, group_id)
        self.group_epoch = 1
        """Never falls. It is larger than `assignment_epoch` from a change of a subscription or of a
        topic until a new target assignment is computed."""
        self.subscribed_topic_names: SubscribedTopicNames = {}
        """How many of `members` subscribe to each topic; a topic without one has no entry. It is
        counted with each change of a member, so that a heartbeat need not ask all."""
        self.metadata_hash = 0
        """That of the subscribed topics when the group epoch grew last; 0 before the first time."""
        self.assignment_epoch = 1
        """The group epoch for which `target_assignment` was computed: at most `group_epoch`, and at
        least the epoch of each member."""
        self.assignment_timestamp = 0
        """When the target assignment was computed (ms); 0 if that is unknown."""
        self.target_assignment: dict[str, Assignment] = {}
        """The target assignment of each member, by member id. A member that just joined has no
        entry."""
        self.inverted_target_assignment: dict[Uuid, dict[int, str]] = {}
        """Topic id -> partition -> member id: the same turned round, changed together with it."""
        self.metadata_refresh_deadline = DeadlineAndEpoch(0, 0)
        """In memory alone: a loaded group computes the hash at its first heartbeat."""

    def update_member(self, member: M) -> None:
        """Adds or replaces a member (replay)."""
        old = self.members.get(member.member_id)
        self.members[member.member_id] = member
        self.update_subscribed_topic_names(self.subscribed_topic_names, old, member)

    def remove_member(self, member_id: str) -> None:
        """Removes a member (replay)."""
        self.update_subscribed_topic_names(self.subscribed_topic_names, self.members.pop(member_id, None), None)

    @staticmethod
    def update_subscribed_topic_names(
        counts: SubscribedTopicNames, old: ModernGroupMember | None, new: ModernGroupMember | None
    ) -> None:
        """Counts the subscriptions of `new` instead of those of `old`."""
        before = frozenset() if old is None else old.subscribed_topic_names
        after = frozenset() if new is None else new.subscribed_topic_names
        if before != after:
            add_names(counts, before, -1)
            add_names(counts, after, 1)

    def subscriptions_with(self, old: M | None, new: M | None) -> SubscribedTopicNames:
        """Returns the subscriptions of the group, if `new` replaces `old`."""
        counts = dict(self.subscribed_topic_names)
        self.update_subscribed_topic_names(counts, old, new)
        return counts

    @property
    def is_homogeneous(self) -> bool:
        """Returns whether all members subscribe to the same topics (Kafka: `SubscriptionType`)."""
        return all(count.by_name == len(self.members) for count in self.subscribed_topic_names.values())

    def compute_metadata_hash(self, names: Iterable[str]) -> int:
        """Returns the hash of these topics as they are now."""
        return compute_metadata_hash(names, self.shard.topic_hashes, self.shard.node.image)

    def on_topics_changed(self, names: Set[str]) -> None:
        if not self.subscribed_topic_names.keys().isdisjoint(names):
            self.metadata_refresh_deadline = DeadlineAndEpoch(0, 0)

    def has_metadata_expired(self, now: int) -> bool:
        """Returns whether the metadata hash must be computed again.

        That is so as well if the epoch of the last one was not persisted.
        """
        return now >= self.metadata_refresh_deadline.deadline_ms or (
            self.group_epoch < self.metadata_refresh_deadline.epoch
        )

    def set_metadata_refresh_deadline(self, now: int, epoch: int) -> None:
        self.metadata_refresh_deadline = DeadlineAndEpoch(now + NO_REFRESH_MS, epoch)

    def update_target_assignment(self, member_id: str, assignment: Assignment) -> None:
        """Replaces the target assignment of a member (replay)."""
        self._invert(member_id, self.target_assignment.get(member_id, EMPTY_ASSIGNMENT), assignment)
        self.target_assignment[member_id] = assignment

    def remove_target_assignment(self, member_id: str) -> None:
        """Removes the target assignment of a member (replay)."""
        self._invert(member_id, self.target_assignment.pop(member_id, EMPTY_ASSIGNMENT), EMPTY_ASSIGNMENT)

    def _invert(self, member_id: str, old: Assignment, new: Assignment) -> None:
        for topic_id in {**old, **new}:
            before, after = old.get(topic_id, NO_PARTITIONS), new.get(topic_id, NO_PARTITIONS)
            owners = self.inverted_target_assignment.setdefault(topic_id, {})
            for partition in before:
                if partition not in after and owners.get(partition) == member_id:
                    del owners[partition]
            owners.update((partition, member_id) for partition in after if partition not in before)
            if not owners:
                del self.inverted_target_assignment[topic_id]

    # What a test does to the group. It is written as any other change of the group, so members
    # reconcile with it as usual, and a broker that loads the group has it.

    def rebalance(self) -> None:
        """Makes the next heartbeat compute another target assignment. Raises Refusal."""
        self.refuse_to_rebalance_empty()
        self.shard.write(
            [
                # The time of the last assignment is forgotten: the next need not wait.
                self.records.target_assignment_metadata_record(self.group_id, self.assignment_epoch, UNKNOWN_TIME),
                self.records.epoch_record(self.group_id, self.group_epoch + 1, self.metadata_hash),
            ]
        )

    def set_target_assignment(self, assignments: Mapping[str, Assignment]) -> None:
        """Any other member gets none. It holds until the next one is computed."""
        by_member = {self.named_member(name).member_id: assignment for name, assignment in assignments.items()}
        group_id, epoch, records = self.group_id, self.group_epoch + 1, self.records
        self.shard.write(
            [
                records.epoch_record(group_id, epoch, self.metadata_hash),
                *(
                    records.target_assignment_record(group_id, id, by_member.get(id, EMPTY_ASSIGNMENT))
                    for id in self.members
                ),
                records.target_assignment_metadata_record(group_id, epoch, self.shard.now),
            ]
        )

    def is_subscribed_to_topic(self, topic: str) -> bool:
        return topic in self.subscribed_topic_names

    def __repr__(self) -> str:
        return f"{self.type} group {self.group_id}: {len(self.members)} members, epoch {self.group_epoch}"
