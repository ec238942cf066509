"""What each record of a streams group changes.

A record creates a group that does not exist; a tombstone does not. A group with committed offsets
only, which is a classic group, becomes a streams group.
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

from ..classic.group import ClassicGroup
from .records import StreamsGroupMetadata
from .streams_group import DELETED_ASSIGNMENT_EPOCH, StreamsGroup
from .tasks_tuple import TasksTuple
from .topics.streams_topology import StreamsTopology

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard


class UnexpectedStreamsRecord(Exception):
    """A record that does not fit the group: the log is damaged, and is not loaded."""


def _group_of(shard: GroupCoordinatorShard, group_id: str) -> StreamsGroup:
    """Return the group, created if it does not exist. Raises UnexpectedStreamsRecord for a group of
    another type."""
    found = shard.groups.get(group_id)
    if isinstance(found, StreamsGroup):
        return found
    if found is not None and not (isinstance(found, ClassicGroup) and found.is_simple):
        raise UnexpectedStreamsRecord(f"group {group_id} is not a streams group")
    group = shard.groups[group_id] = StreamsGroup(shard, group_id)
    return group


def _existing(shard: GroupCoordinatorShard, group_id: str) -> StreamsGroup | None:
    return None if group_id not in shard.groups else _group_of(shard, group_id)


def replay_metadata(
    shard: GroupCoordinatorShard, key: StreamsGroupMetadataKey, value: StreamsGroupMetadataValue | None
) -> None:
    """Set the group's epochs, or delete the group, which has no members and no assignment then."""
    if value is not None:
        _group_of(shard, key.group_id).metadata = StreamsGroupMetadata.of(value)
        return
    group = _existing(shard, key.group_id)
    if group is None:
        return
    if group.members or group.assignment_epoch != DELETED_ASSIGNMENT_EPOCH:
        raise UnexpectedStreamsRecord(f"{group!r} is deleted before its members and its assignment")
    del shard.groups[key.group_id]


def replay_topology(
    shard: GroupCoordinatorShard, key: StreamsGroupTopologyKey, value: StreamsGroupTopologyValue | None
) -> None:
    """Set or delete the topology."""
    if value is not None:
        _group_of(shard, key.group_id).topology = StreamsTopology(value)
    elif (group := _existing(shard, key.group_id)) is not None:
        group.topology = None


def replay_member_metadata(
    shard: GroupCoordinatorShard, key: StreamsGroupMemberMetadataKey, value: StreamsGroupMemberMetadataValue | None
) -> None:
    """Add, change or remove a member, whose assignments are deleted before."""
    if value is not None:
        group = _group_of(shard, key.group_id)
        group.update_member(group.member_or_new(key.member_id).with_metadata(value))
        return
    existing = _existing(shard, key.group_id)
    member = None if existing is None else existing.members.get(key.member_id)
    if existing is None or member is None:
        return
    if not member.is_without_assignment or key.member_id in existing.target_assignment:
        raise UnexpectedStreamsRecord(f"member {key.member_id} of {existing!r} is deleted before its assignments")
    existing.remove_member(key.member_id)


def replay_target_assignment_metadata(
    shard: GroupCoordinatorShard,
    key: StreamsGroupTargetAssignmentMetadataKey,
    value: StreamsGroupTargetAssignmentMetadataValue | None,
) -> None:
    """Set the epoch of the target assignment, or delete the assignment, which has no members then."""
    if value is not None:
        group = _group_of(shard, key.group_id)
        group.assignment_epoch, group.assignment_timestamp = value.assignment_epoch, value.assignment_timestamp
        return
    existing = _existing(shard, key.group_id)
    if existing is None:
        return
    if existing.target_assignment:
        raise UnexpectedStreamsRecord(f"the target assignment of {existing!r} is deleted before those of its members")
    existing.assignment_epoch, existing.assignment_timestamp = DELETED_ASSIGNMENT_EPOCH, 0


def replay_target_assignment_member(
    shard: GroupCoordinatorShard,
    key: StreamsGroupTargetAssignmentMemberKey,
    value: StreamsGroupTargetAssignmentMemberValue | None,
) -> None:
    """Set or delete the target assignment of a member."""
    if value is not None:
        _group_of(shard, key.group_id).target_assignment[key.member_id] = TasksTuple.of(value)
    elif (group := _existing(shard, key.group_id)) is not None:
        group.target_assignment.pop(key.member_id, None)


def replay_current_member_assignment(
    shard: GroupCoordinatorShard,
    key: StreamsGroupCurrentMemberAssignmentKey,
    value: StreamsGroupCurrentMemberAssignmentValue | None,
) -> None:
    """Set the epoch, the state and the tasks of a member, or delete them before the member."""
    if value is not None:
        group = _group_of(shard, key.group_id)
        group.update_member(group.member_or_new(key.member_id).with_current_assignment(value))
        return
    existing = _existing(shard, key.group_id)
    if existing is not None and key.member_id in existing.members:
        existing.update_member(existing.members[key.member_id].without_current_assignment())


REPLAY: dict[type[Message], Any] = {
    StreamsGroupMetadataKey: replay_metadata,
    StreamsGroupTopologyKey: replay_topology,
    StreamsGroupMemberMetadataKey: replay_member_metadata,
    StreamsGroupTargetAssignmentMetadataKey: replay_target_assignment_metadata,
    StreamsGroupTargetAssignmentMemberKey: replay_target_assignment_member,
    StreamsGroupCurrentMemberAssignmentKey: replay_current_member_assignment,
}
"""Class of a record's key -> the function that applies the record."""
