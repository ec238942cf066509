"""Replays the records that consumer and share groups have in common: members, epochs, target
assignments and current assignments (KIP-848, KIP-932). A type of group says what their values hold.

Each record but a tombstone creates the group if it does not exist yet (`ReplayedGroups`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from .modern_group_member import LEAVE_GROUP_MEMBER_EPOCH, MemberState
from .replayed_groups import NO_ASSIGNMENT_EPOCH, ReplayedGroups

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

FieldsOf = Callable[[Any], Mapping[str, Any]]
"""The fields of a member that the value of a record holds."""


class ModernReplay(NamedTuple):
    """The functions that apply these records, for one type of group. `unassigned` are the fields of
    a member that has no partitions."""

    groups: ReplayedGroups[Any]
    metadata_of: FieldsOf
    target_assignment_of: Callable[[Any], Any]
    partitions_of: FieldsOf
    unassigned: Mapping[str, Any]

    def replay_member(self, shard: GroupCoordinatorShard, key: Any, value: Any | None) -> None:
        """Sets or deletes the metadata of a member; a member without them is deleted."""
        if value is not None:
            group = self.groups.group(shard, key)
            group.update_member(replace(group.member_or_new(key.member_id), **self.metadata_of(value)))
        elif (present := self.groups.present(shard, key)) is not None:
            present.remove_member(key.member_id)

    def replay_epoch(self, shard: GroupCoordinatorShard, key: Any, value: Any | None) -> None:
        """Sets the group epoch, or deletes the group."""
        if value is not None:
            group = self.groups.group(shard, key)
            group.group_epoch, group.metadata_hash = value.epoch, value.metadata_hash
        else:
            self.groups.delete(shard, key)

    def replay_target_assignment(self, shard: GroupCoordinatorShard, key: Any, value: Any | None) -> None:
        """Sets or deletes the target assignment of a member."""
        if value is not None:
            assignment = self.target_assignment_of(value)
            self.groups.group(shard, key).update_target_assignment(key.member_id, assignment)
        elif (present := self.groups.present(shard, key)) is not None:
            present.remove_target_assignment(key.member_id)

    def replay_assignment_epoch(self, shard: GroupCoordinatorShard, key: Any, value: Any | None) -> None:
        """Sets the epoch of the target assignment."""
        if value is not None:
            group = self.groups.group(shard, key)
            group.assignment_epoch, group.assignment_timestamp = value.assignment_epoch, value.assignment_timestamp
        elif (present := self.groups.present(shard, key)) is not None:
            present.assignment_epoch, present.assignment_timestamp = NO_ASSIGNMENT_EPOCH, 0

    def replay_current_assignment(self, shard: GroupCoordinatorShard, key: Any, value: Any | None) -> None:
        """Sets what a member has; a tombstone comes before the one of the member itself."""
        if value is not None:
            group = self.groups.group(shard, key)
            group.update_member(
                replace(
                    group.member_or_new(key.member_id),
                    member_epoch=value.member_epoch,
                    previous_member_epoch=value.previous_member_epoch,
                    state=MemberState.of(value.state),
                    **self.partitions_of(value),
                )
            )
        elif (present := self.groups.present(shard, key)) is not None and key.member_id in present.members:
            epoch = LEAVE_GROUP_MEMBER_EPOCH
            member = present.members[key.member_id]
            present.update_member(replace(member, member_epoch=epoch, previous_member_epoch=epoch, **self.unassigned))
