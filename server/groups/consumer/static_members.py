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

from ..assignor.assignment import EMPTY_ASSIGNMENT
from ..modern.heartbeat_group import unreleased_instance_id
from . import records, timers
from .consumer_group_member import LEAVE_GROUP_STATIC_MEMBER_EPOCH, ConsumerGroupMember
from .member_epochs import JOIN_GROUP_MEMBER_EPOCH

if TYPE_CHECKING:
    from .assignment_steps import GroupChange


def join(change: GroupChange, member_id: str, instance_id: str, *, uses_classic_protocol: bool) -> ConsumerGroupMember:
    """Returns the member that joins: a new one, or a replacement of the present one.

    Raises Refusal(UNRELEASED_INSTANCE_ID).
    """
    present = change.group.static_member(instance_id)
    if present is None:
        return change.group.member_or_new(member_id)
    is_converted = uses_classic_protocol or present.uses_classic_protocol
    if not is_converted and present.member_epoch != LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        raise unreleased_instance_id(member_id, instance_id, present.member_id)
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
