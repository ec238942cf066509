"""Static members of a consumer group (KIP-345, KIP-848): a group instance id is one member at a
time.

A static member that left for a while (epoch -2) keeps its partitions. A client that joins with its
instance id replaces it under another member id, and gets its target assignment. Between the two
protocols the old member need not leave first.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ...requests.request import Refusal
from ..assignor.assignment import EMPTY_ASSIGNMENT
from . import records, timers
from .consumer_group_member import LEAVE_GROUP_STATIC_MEMBER_EPOCH, ConsumerGroupMember
from .member_epochs import JOIN_GROUP_MEMBER_EPOCH

if TYPE_CHECKING:
    from .assignment_steps import GroupChange
    from .consumer_group import ConsumerGroup


def join(change: GroupChange, member_id: str, instance_id: str, *, uses_classic_protocol: bool) -> ConsumerGroupMember:
    """Returns the member that joins: a new one, or a replacement of the present one.

    Raises Refusal(UNRELEASED_INSTANCE_ID).
    """
    present = change.group.static_member(instance_id)
    if present is None:
        return change.group.member_or_new(member_id)
    if not uses_classic_protocol and not present.uses_classic_protocol:
        _refuse_if_unreleased(present, member_id, instance_id)
    epoch = JOIN_GROUP_MEMBER_EPOCH
    replacement = replace(present, member_id=member_id, member_epoch=epoch, previous_member_epoch=epoch)
    group_id = change.group.group_id
    target = change.group.target_assignment.get(present.member_id, EMPTY_ASSIGNMENT)
    change.replaced_member_id = present.member_id
    change.after_write(partial(timers.cancel_all, change.group, present.member_id))
    change.records += [
        *records.member_tombstones(group_id, present.member_id),
        records.member_subscription_record(group_id, replacement),
        records.target_assignment_record(group_id, member_id, target),
        records.current_assignment_record(group_id, replacement),
    ]
    return replacement


def _refuse_if_unreleased(present: ConsumerGroupMember, member_id: str, instance_id: str) -> None:
    if present.member_epoch != LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        message = (
            f"Static member {member_id} with instance id {instance_id} cannot join the group because the instance id"
            f" is owned by {present.member_id} member."
        )
        raise Refusal(error_codes.UNRELEASED_INSTANCE_ID, message)


def validated(group: ConsumerGroup, member_id: str, instance_id: str) -> ConsumerGroupMember:
    """Returns the static member. Raises Refusal: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
    member = group.static_member(instance_id)
    if member is None:
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        message = f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}."
        raise Refusal(error_codes.FENCED_INSTANCE_ID, message)
    return member
