"""Finds the share group of a request. A group id has one type at a time, and a share group replaces
no group of another type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ...requests.request import Refusal
from .share_group import ShareGroup

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard


def share_group(shard: GroupCoordinatorShard, group_id: str) -> ShareGroup:
    """Returns the group. Raises Refusal(GROUP_ID_NOT_FOUND)."""
    group = shard.groups.get(group_id)
    if group is None:
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    if not isinstance(group, ShareGroup):
        raise _another_type(group_id)
    return group


def share_group_or_new(shard: GroupCoordinatorShard, group_id: str, *, create: bool) -> ShareGroup:
    """Returns the group, or a new one, which its first records will create. Raises
    Refusal(GROUP_ID_NOT_FOUND)."""
    group = shard.groups.get(group_id)
    if group is None and not create:
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Share group {group_id} not found.")
    if group is None:
        return ShareGroup(shard, group_id)
    if not isinstance(group, ShareGroup):
        raise _another_type(group_id)
    return group


def _another_type(group_id: str) -> Refusal:
    return Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
