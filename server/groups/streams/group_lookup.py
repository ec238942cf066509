"""Finds the streams group of a request, or decides what becomes of a group of another type.

A group id has one type at a time. The first member replaces an empty classic group, such as one
that only has committed offsets; any other type is GROUP_ID_NOT_FOUND.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ...requests.request import Refusal
from ..classic.group import ClassicGroup
from .streams_group import StreamsGroup

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard


def streams_group(shard: GroupCoordinatorShard, group_id: str) -> StreamsGroup:
    """Returns the group. Raises Refusal(GROUP_ID_NOT_FOUND)."""
    group = shard.groups.get(group_id)
    if group is None:
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    if not isinstance(group, StreamsGroup):
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a streams group.")
    return group


def joined_group(shard: GroupCoordinatorShard, group_id: str) -> tuple[StreamsGroup, ClassicGroup | None]:
    """Returns the group that a member joins, perhaps a new one, and the classic group that it
    replaces. Raises Refusal(GROUP_ID_NOT_FOUND)."""
    group = shard.groups.get(group_id)
    if group is None:
        return StreamsGroup(shard, group_id), None
    if isinstance(group, ClassicGroup) and group.is_empty:
        return StreamsGroup(shard, group_id), group
    return streams_group(shard, group_id), None


def present_group(shard: GroupCoordinatorShard, group_id: str) -> StreamsGroup:
    """Returns the group of a member that has joined. Raises Refusal(GROUP_ID_NOT_FOUND)."""
    if group_id not in shard.groups:
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Streams group {group_id} not found.")
    return streams_group(shard, group_id)
