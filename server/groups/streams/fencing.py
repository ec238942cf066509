"""Removes members of a streams group: they left, or a timer ran out (KIP-1071).

The group epoch advances, so that the others get their tasks. After the last member, the next one
gets an assignment at once, whatever the assignment interval is.
"""

from __future__ import annotations

from . import records, timers
from .members.streams_group_member import StreamsGroupMember
from .membership import StreamsGroupMembership

ASSIGN_AT_ONCE = 0
"""The time of a target assignment after which the next one need not wait."""


def fence_member(group: StreamsGroupMembership, member: StreamsGroupMember) -> None:
    """Removes the member, and writes that. Raises Refusal if it cannot be written."""
    epoch = group.metadata.epoch + 1
    removal = records.member_tombstones(group.group_id, member.member_id)
    removal.append(records.metadata_record(group.group_id, group.metadata._replace(epoch=epoch)))
    if len(group.members) == 1:
        removal.append(records.target_assignment_metadata_record(group.group_id, epoch, ASSIGN_AT_ONCE))
    group.shard.write(removal)
    timers.cancel_member(group, member.member_id)
