"""A share group (KIP-932): its members share partitions, and their records are acknowledged one by
one.

A share group has no committed offsets; its state is in the share coordinator. It is Stable while it
has members, else Empty, and it exists until it is deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.request import Refusal
from ..assignor.assignment import Assignment
from ..coordinator_group import SHARE
from ..modern.modern_group import UNKNOWN_TIME, ModernGroup
from . import records, sessions
from .share_group_member import ShareGroupMember
from .state_partition_metadata import StatePartitionMetadata

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

EMPTY, STABLE = "Empty", "Stable"

NO_PARTITIONS: Set[int] = frozenset()


class ShareGroup(ModernGroup[ShareGroupMember]):
    """One share group."""

    type: ClassVar[str] = SHARE
    protocol_type = "share"
    max_size_setting = "group.share.max.size"
    expires = False
    records: ClassVar[Any] = records

    def __init__(self, shard: GroupCoordinatorShard, group_id: str) -> None:
        super().__init__(shard, group_id)
        self.state_partition_metadata: StatePartitionMetadata | None = None
        """None until its first record."""
        # None while it is not known: every heartbeat asks, and the members have many partitions.
        self._is_assignment_pending: bool | None = None

    def new_member(self, member_id: str) -> ShareGroupMember:
        return ShareGroupMember(member_id=member_id)

    @property
    def state_name(self) -> str:
        return STABLE if self.members else EMPTY

    def has_initialized_assignment_pending(self) -> bool:
        """Returns whether a subscribed topic has initialized partitions that are not assigned, or
        has assigned ones that are not initialized."""
        if self._is_assignment_pending is None:
            self._is_assignment_pending = self.would_be_pending(self.target_assignment.values())
        return self._is_assignment_pending

    def would_be_pending(self, assignments: Iterable[Assignment]) -> bool:
        """Returns the same, if the members had these assignments."""
        metadata = self.state_partition_metadata
        if metadata is None or not metadata.initialized or not self.subscribed_topic_names:
            return False
        # Not the inverted target assignment, which has one member for each partition.
        assigned: dict[Uuid, set[int]] = {}
        for assignment in assignments:
            for topic_id, partitions in assignment.items():
                assigned.setdefault(topic_id, set()).update(partitions)
        return any(
            assigned.get(topic_id, NO_PARTITIONS) != value.partitions
            for topic_id, value in metadata.initialized.items()
            if value.name in self.subscribed_topic_names
        )

    # What the records change, and what an earlier answer depends on.

    def set_state_partition_metadata(self, metadata: StatePartitionMetadata | None) -> None:
        """Replaces which partitions have a state (replay)."""
        self.state_partition_metadata, self._is_assignment_pending = metadata, None

    def update_member(self, member: ShareGroupMember) -> None:
        self._is_assignment_pending = None
        super().update_member(member)

    def remove_member(self, member_id: str) -> None:
        self._is_assignment_pending = None
        super().remove_member(member_id)

    def update_target_assignment(self, member_id: str, assignment: Assignment) -> None:
        self._is_assignment_pending = None
        super().update_target_assignment(member_id, assignment)

    def remove_target_assignment(self, member_id: str) -> None:
        self._is_assignment_pending = None
        super().remove_target_assignment(member_id)

    def validate_offset_commit(
        self, member_id: str, group_instance_id: str | None, generation_id: int, *, transactional: bool, version: int
    ) -> NoReturn:
        raise self._not_a_consumer_group()

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """As in Kafka, each partition is without an offset, and that is no error."""

    def validate_offset_delete(self) -> None:
        raise self._not_a_consumer_group()

    def _not_a_consumer_group(self) -> Refusal:
        return Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Group {self.group_id} is not a consumer group.")

    def fence_member(self, member: ShareGroupMember) -> None:
        """Removes the member, and writes that. The group epoch grows, so the other members get its
        partitions at their next heartbeats. Raises Refusal if it cannot be written."""
        group_id, epoch = self.group_id, self.group_epoch + 1
        names = self.subscriptions_with(member, None)
        removal = records.member_tombstones(group_id, member.member_id)
        removal.append(records.epoch_record(group_id, epoch, self.compute_metadata_hash(names)))
        if len(self.members) == 1:
            removal.append(records.target_assignment_metadata_record(group_id, epoch, UNKNOWN_TIME))
        self.shard.write(removal)
        sessions.cancel(self.shard, group_id, member.member_id)

    def expire_member(self, name: str) -> None:
        self.fence_member(self.member(name))

    def set_target_assignment(self, assignments: Mapping[str, Assignment]) -> None:
        for member_id in assignments:
            self.member(member_id)
        if self.would_be_pending(assignments.values()):
            message = (
                f"{self.group_id} computes its own assignment unless exactly the partitions that have a state"
                " are assigned"
            )
            raise Refusal(error_codes.INVALID_REQUEST, message)
        super().set_target_assignment(assignments)

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        return records.group_tombstones(self.group_id, self.members)

    def on_loaded(self) -> None:
        for member_id in self.members:
            sessions.schedule(self.shard, self.group_id, member_id)


def share_group_or_new(shard: GroupCoordinatorShard, group_id: str, *, create: bool) -> ShareGroup:
    """Returns the group, or a new one, which its first records will create; a share group replaces
    no group of another type. Raises Refusal(GROUP_ID_NOT_FOUND)."""
    if group_id in shard.groups:
        return shard.typed_group(group_id, ShareGroup)
    if not create:
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Share group {group_id} not found.")
    return ShareGroup(shard, group_id)
