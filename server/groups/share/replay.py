"""Replays the records of share groups into a shard (KIP-932).

Each record but a tombstone creates the group if it does not exist yet (`ReplayedGroups`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.share_group_current_member_assignment_record import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
)
from kafkadouble.messages.generated.share_group_member_metadata_record import (
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
)
from kafkadouble.messages.generated.share_group_metadata_record import ShareGroupMetadataKey
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
)
from kafkadouble.messages.message import Message

from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from ..modern.replay import ModernReplay
from ..modern.replayed_groups import ReplayedGroups
from . import records
from .share_group import ShareGroup

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

GROUPS = ReplayedGroups(ShareGroup)


def _metadata_of(value: ShareGroupMemberMetadataValue) -> dict[str, Any]:
    return {
        "rack_id": value.rack_id,
        "client_id": value.client_id,
        "client_host": value.client_host,
        "subscribed_topic_names": frozenset(value.subscribed_topic_names),
    }


def _target_assignment_of(value: ShareGroupTargetAssignmentMemberValue) -> Assignment:
    return records.partitions_of(value.topic_partitions)


def _partitions_of(value: ShareGroupCurrentMemberAssignmentValue) -> dict[str, Any]:
    return {"assigned_partitions": records.partitions_of(value.assigned_partitions)}


COMMON = ModernReplay(
    GROUPS,
    metadata_of=_metadata_of,
    target_assignment_of=_target_assignment_of,
    partitions_of=_partitions_of,
    unassigned={"assigned_partitions": EMPTY_ASSIGNMENT},
)


def replay_state_partition_metadata(
    shard: GroupCoordinatorShard,
    key: ShareGroupStatePartitionMetadataKey,
    value: ShareGroupStatePartitionMetadataValue | None,
) -> None:
    """Sets which partitions have a state at the share coordinator."""
    if value is not None:
        metadata = records.state_partition_metadata_of(value, shard.now)
        GROUPS.group(shard, key).set_state_partition_metadata(metadata)
    elif (present := GROUPS.present(shard, key)) is not None:
        present.set_state_partition_metadata(None)


REPLAY: dict[type[Message], Callable[[GroupCoordinatorShard, Any, Any], None]] = {
    ShareGroupMemberMetadataKey: COMMON.replay_member,
    ShareGroupMetadataKey: COMMON.replay_epoch,
    ShareGroupTargetAssignmentMemberKey: COMMON.replay_target_assignment,
    ShareGroupTargetAssignmentMetadataKey: COMMON.replay_assignment_epoch,
    ShareGroupCurrentMemberAssignmentKey: COMMON.replay_current_assignment,
    ShareGroupStatePartitionMetadataKey: replay_state_partition_metadata,
}
"""Class of a record's key -> the function that applies the record."""
