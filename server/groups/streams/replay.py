"""Replays the records of streams groups into a shard (KIP-1071).

Each record but a tombstone creates the group if it does not exist yet (`ReplayedGroups`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.streams_group_current_member_assignment_record import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
)
from kafkadouble.messages.generated.streams_group_member_metadata_record import (
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
)
from kafkadouble.messages.generated.streams_group_metadata_record import (
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
)
from kafkadouble.messages.generated.streams_group_target_assignment_member_record import (
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
)
from kafkadouble.messages.generated.streams_group_target_assignment_metadata_record import (
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
)
from kafkadouble.messages.generated.streams_group_topology_record import (
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)
from kafkadouble.messages.message import Message

from ..modern.replayed_groups import NO_ASSIGNMENT_EPOCH, ReplayedGroups
from .members.tasks_tuple import TasksTuple
from .records import StreamsGroupMetadata
from .streams_group import StreamsGroup
from .topics.streams_topology import StreamsTopology

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard


GROUPS = ReplayedGroups(StreamsGroup)


def replay_metadata(
    shard: GroupCoordinatorShard, key: StreamsGroupMetadataKey, value: StreamsGroupMetadataValue | None
) -> None:
    """Sets the group's epochs, or deletes the group."""
    if value is not None:
        GROUPS.group(shard, key).set_metadata(StreamsGroupMetadata.of(value))
    else:
        GROUPS.delete(shard, key)


def replay_topology(
    shard: GroupCoordinatorShard, key: StreamsGroupTopologyKey, value: StreamsGroupTopologyValue | None
) -> None:
    """Sets or deletes the topology."""
    if value is not None:
        GROUPS.group(shard, key).set_topology(StreamsTopology(value))
    elif (present := GROUPS.present(shard, key)) is not None:
        present.set_topology(None)


def replay_member(
    shard: GroupCoordinatorShard, key: StreamsGroupMemberMetadataKey, value: StreamsGroupMemberMetadataValue | None
) -> None:
    """Sets the metadata of a member; a member without them is deleted."""
    if value is not None:
        group = GROUPS.group(shard, key)
        group.update_member(group.member_or_new(key.member_id).with_metadata(value))
    elif (present := GROUPS.present(shard, key)) is not None:
        present.remove_member(key.member_id)


def replay_target_assignment_metadata(
    shard: GroupCoordinatorShard,
    key: StreamsGroupTargetAssignmentMetadataKey,
    value: StreamsGroupTargetAssignmentMetadataValue | None,
) -> None:
    """Sets the epoch of the target assignment, or deletes it."""
    if value is not None:
        GROUPS.group(shard, key).set_target_assignment_metadata(value.assignment_epoch, value.assignment_timestamp)
    elif (present := GROUPS.present(shard, key)) is not None:
        present.set_target_assignment_metadata(NO_ASSIGNMENT_EPOCH, 0)


def replay_target_assignment_member(
    shard: GroupCoordinatorShard,
    key: StreamsGroupTargetAssignmentMemberKey,
    value: StreamsGroupTargetAssignmentMemberValue | None,
) -> None:
    """Sets or deletes the target assignment of a member."""
    if value is not None:
        GROUPS.group(shard, key).target_assignment[key.member_id] = TasksTuple.of(value)
    elif (present := GROUPS.present(shard, key)) is not None:
        present.target_assignment.pop(key.member_id, None)


def replay_current_assignment(
    shard: GroupCoordinatorShard,
    key: StreamsGroupCurrentMemberAssignmentKey,
    value: StreamsGroupCurrentMemberAssignmentValue | None,
) -> None:
    """Sets the epoch, the state and the tasks of a member, or deletes them."""
    if value is not None:
        group = GROUPS.group(shard, key)
        group.update_member(group.member_or_new(key.member_id).with_current_assignment(value))
        return
    present = GROUPS.present(shard, key)
    if present is not None and key.member_id in present.members:
        present.update_member(present.members[key.member_id].without_current_assignment())


REPLAY: dict[type[Message], Any] = {
    StreamsGroupMetadataKey: replay_metadata,
    StreamsGroupTopologyKey: replay_topology,
    StreamsGroupMemberMetadataKey: replay_member,
    StreamsGroupTargetAssignmentMetadataKey: replay_target_assignment_metadata,
    StreamsGroupTargetAssignmentMemberKey: replay_target_assignment_member,
    StreamsGroupCurrentMemberAssignmentKey: replay_current_assignment,
}
"""Class of a record's key -> the function that applies the record."""
