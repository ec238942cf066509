"""Removes a member from a share group: it left, or its session expired (KIP-932).

The group epoch grows, so the other members get its partitions at their next heartbeats.
"""

from __future__ import annotations

from ..modern.modern_group import ModernGroup
from . import records, sessions
from .share_group_member import ShareGroupMember

UNKNOWN_TIME = 0


def fence_member(group: ModernGroup[ShareGroupMember], member: ShareGroupMember) -> None:
    """Removes the member, and writes that. Raises Refusal if it cannot be written."""
    group_id, epoch = group.group_id, group.group_epoch + 1
    names = group.subscriptions_with(member, None)
    removal = records.member_tombstones(group_id, member.member_id)
    removal.append(records.epoch_record(group_id, epoch, group.compute_metadata_hash(names)))
    if len(group.members) == 1:
        removal.append(records.target_assignment_metadata_record(group_id, epoch, UNKNOWN_TIME))
    group.shard.write(removal)
    sessions.cancel(group.shard, group_id, member.member_id)
