"""How members leave a streams group (KIP-1071).

A dynamic member leaves with the epoch -1, and so does a static member that does not come back. A
static member that leaves with the epoch -2 keeps its tasks until its session ends, and the member
with its instance id that joins next has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.request import Refusal
from . import records
from .streams_group_member import LEAVE_GROUP_STATIC_MEMBER_EPOCH, StreamsGroupMember
from .tasks_tuple import NO_TASKS_WITH_EPOCHS

if TYPE_CHECKING:
    from .streams_group import StreamsGroup

ASSIGN_AT_ONCE = 0
"""The timestamp of a target assignment after which the next one need not wait."""


class Leave(NamedTuple):
    """The outcome of a member's leave: it `is_removed` unless it is static and may come back."""

    records: Sequence[CoordinatorRecord]
    response: StreamsGroupHeartbeatResponse
    member_id: str
    is_removed: bool


def leave(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> Leave:
    """Return the records with which a member leaves.

    Raises Refusal: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
    """
    response = StreamsGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    if request.instance_id is None:
        member = group.member(request.member_id)
        return Leave(fenced_member_records(group, member), response, member.member_id, True)
    member = known_static_member(group, request)
    if request.member_epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        return Leave(_away_records(group, member), response, member.member_id, False)
    return Leave(fenced_member_records(group, member), response, member.member_id, True)


def known_static_member(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> StreamsGroupMember:
    """Return the member of an instance id. Raises UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
    member = group.static_member(request.instance_id or "")
    if member is None:
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"Instance id {request.instance_id} is unknown.")
    if member.member_id != request.member_id:
        message = (
            f"Static member {request.member_id} with instance id {request.instance_id} "
            f"was fenced by member {member.member_id}."
        )
        raise Refusal(error_codes.FENCED_INSTANCE_ID, message)
    return member


def fenced_member_records(group: StreamsGroup, member: StreamsGroupMember) -> list[CoordinatorRecord]:
    """Return the records that remove a member. The next member after the last one is assigned at
    once."""
    epoch = group.metadata.epoch + 1
    found = records.removed_member_records(group.group_id, member.member_id)
    found.append(records.metadata_record(group.group_id, group.metadata._replace(epoch=epoch)))
    if len(group.members) == 1:
        found.append(records.target_assignment_metadata_record(group.group_id, epoch, ASSIGN_AT_ONCE))
    return found


def _away_records(group: StreamsGroup, member: StreamsGroupMember) -> list[CoordinatorRecord]:
    away = replace(
        member,
        member_epoch=LEAVE_GROUP_STATIC_MEMBER_EPOCH,
        tasks_pending_revocation=NO_TASKS_WITH_EPOCHS,
        assigned_tasks=member.assigned_tasks.with_epochs_of_zero(),
    )
    return [records.current_assignment_record(group.group_id, away)]
