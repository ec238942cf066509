"""Replays the records of share groups into a shard (KIP-932).

Each record but a tombstone creates the group if it does not exist yet (`ReplayedGroups`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.share_group_current_member_assignment_record import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
)
from kafkadouble.messages.generated.share_group_member_metadata_record import (
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
)
from kafkadouble.messages.generated.share_group_metadata_record import ShareGroupMetadataKey, ShareGroupMetadataValue
from kafkadouble.messages.generated.share_group_state_partition_metadata_record import (
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
)
from kafkadouble.messages.generated.share_group_target_assignment_member_record import (
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
)
from kafkadouble.messages.generated.share_group_target_assignment_metadata_record import (
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)
from kafkadouble.messages.message import Message

from ..assignor.assignment import EMPTY_ASSIGNMENT
from ..modern.member_state import MemberState
from ..modern.modern_group_member import LEAVE_GROUP_MEMBER_EPOCH
from ..modern.replayed_groups import NO_ASSIGNMENT_EPOCH, ReplayedGroups
from . import records
from .share_group import ShareGroup

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

GROUPS = ReplayedGroups(ShareGroup)


def replay_member(
    shard: GroupCoordinatorShard, key: ShareGroupMemberMetadataKey, value: ShareGroupMemberMetadataValue | None
) -> None:
    """Add, update or delete a member."""
    if value is None:
        if (present := GROUPS.present(shard, key)) is not None:
            present.remove_member(key.member_id)
        return
    group = GROUPS.group(shard, key)
    group.update_member(
        replace(
            group.member_or_new(key.member_id),
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            subscribed_topic_names=frozenset(value.subscribed_topic_names),
        )
    )


def replay_epoch(
    shard: GroupCoordinatorShard, key: ShareGroupMetadataKey, value: ShareGroupMetadataValue | None
) -> None:
    """Set the group epoch, or delete the group."""
    if value is not None:
        group = GROUPS.group(shard, key)
        group.group_epoch, group.metadata_hash = value.epoch, value.metadata_hash
    else:
        GROUPS.delete(shard, key)


def replay_target_assignment(
    shard: GroupCoordinatorShard,
    key: ShareGroupTargetAssignmentMemberKey,
    value: ShareGroupTargetAssignmentMemberValue | None,
) -> None:
    """Set or delete the target assignment of a member."""
    if value is not None:
        assignment = records.partitions_of(value.topic_partitions)
        GROUPS.group(shard, key).update_target_assignment(key.member_id, assignment)
    elif (group := GROUPS.present(shard, key)) is not None:
        group.remove_target_assignment(key.member_id)


def replay_assignment_epoch(
    shard: GroupCoordinatorShard,
    key: ShareGroupTargetAssignmentMetadataKey,
    value: ShareGroupTargetAssignmentMetadataValue | None,
) -> None:
    """Set the epoch of the target assignment."""
    if value is not None:
        group = GROUPS.group(shard, key)
        group.assignment_epoch, group.assignment_timestamp = value.assignment_epoch, value.assignment_timestamp
    elif (present := GROUPS.present(shard, key)) is not None:
        present.assignment_epoch, present.assignment_timestamp = NO_ASSIGNMENT_EPOCH, 0


def replay_current_assignment(
    shard: GroupCoordinatorShard,
    key: ShareGroupCurrentMemberAssignmentKey,
    value: ShareGroupCurrentMemberAssignmentValue | None,
) -> None:
    """Set what a member has; a tombstone comes before the one of the member itself."""
    if value is not None:
        group = GROUPS.group(shard, key)
        group.update_member(
            replace(
                group.member_or_new(key.member_id),
                member_epoch=value.member_epoch,
                previous_member_epoch=value.previous_member_epoch,
                state=MemberState.of(value.state),
                assigned_partitions=records.partitions_of(value.assigned_partitions),
            )
        )
    elif (present := GROUPS.present(shard, key)) is not None and key.member_id in present.members:
        epoch = LEAVE_GROUP_MEMBER_EPOCH
        member = present.members[key.member_id]
        present.update_member(
            replace(member, member_epoch=epoch, previous_member_epoch=epoch, assigned_partitions=EMPTY_ASSIGNMENT)
        )


def replay_state_partition_metadata(
    shard: GroupCoordinatorShard,
    key: ShareGroupStatePartitionMetadataKey,
    value: ShareGroupStatePartitionMetadataValue | None,
) -> None:
    """Set which partitions have a state at the share coordinator."""
    if value is not None:
        metadata = records.state_partition_metadata_of(value, shard.now)
        GROUPS.group(shard, key).set_state_partition_metadata(metadata)
    elif (present := GROUPS.present(shard, key)) is not None:
        present.set_state_partition_metadata(None)


REPLAY: dict[type[Message], Callable[[GroupCoordinatorShard, Any, Any], None]] = {
    ShareGroupMemberMetadataKey: replay_member,
    ShareGroupMetadataKey: replay_epoch,
    ShareGroupTargetAssignmentMemberKey: replay_target_assignment,
    ShareGroupTargetAssignmentMetadataKey: replay_assignment_epoch,
    ShareGroupCurrentMemberAssignmentKey: replay_current_assignment,
    ShareGroupStatePartitionMetadataKey: replay_state_partition_metadata,
}
"""Class of a record's key -> the function that applies the record."""
