"""Static members of a streams group (KIP-345, KIP-1071): a group instance id is one member at a
time.

A static member that left for a while (epoch -2) keeps its tasks until its session ends. A client
that joins with its instance id replaces it, usually under another member id, and gets its target
assignment.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...coordinator.coordinator_record import CoordinatorRecord
from ..modern.heartbeat_group import unreleased_instance_id
from . import records
from .member_epochs import JOIN_GROUP_MEMBER_EPOCH
from .members.streams_group_member import LEAVE_GROUP_STATIC_MEMBER_EPOCH, StreamsGroupMember
from .members.tasks_tuple import NO_TASKS, NO_TASKS_WITH_EPOCHS

if TYPE_CHECKING:
    from .membership import StreamsGroupMembership


def joining(
    group: StreamsGroupMembership, member_id: str, instance_id: str
) -> tuple[StreamsGroupMember, list[CoordinatorRecord]]:
    """Returns the member that joins, and the records with which it replaces the present one.

    Raises Refusal(UNRELEASED_INSTANCE_ID).
    """
    present = group.static_member(instance_id)
    if present is None:
        return group.member_or_new(member_id), []
    if present.member_epoch != LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        raise unreleased_instance_id(member_id, instance_id, present.member_id)
    epoch, group_id = JOIN_GROUP_MEMBER_EPOCH, group.group_id
    replacement = replace(present, member_id=member_id, member_epoch=epoch, previous_member_epoch=epoch)
    return replacement, [
        *records.member_tombstones(group_id, present.member_id),
        records.member_record(group_id, replacement),
        records.target_assignment_record(group_id, member_id, group.target_assignment.get(present.member_id, NO_TASKS)),
        records.current_assignment_record(group_id, replacement),
    ]


def leaving_for_a_while(member: StreamsGroupMember) -> StreamsGroupMember:
    """Returns the member as it stays in the group. Its tasks have no epoch that fences offsets."""
    return replace(
        member,
        member_epoch=LEAVE_GROUP_STATIC_MEMBER_EPOCH,
        tasks_pending_revocation=NO_TASKS_WITH_EPOCHS,
        assigned_tasks=member.assigned_tasks.with_epochs_of_zero(),
    )
