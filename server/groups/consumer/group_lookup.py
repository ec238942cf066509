"""Finds the consumer group of a request, or decides what becomes of a group of another type.

A group id has one type at a time. Joining with the consumer protocol replaces an empty classic
group, and converts one with members (`upgrade`); any other type is GROUP_ID_NOT_FOUND. The group
that is replaced lives on, with its timers, until the records of the change are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ...requests.request import Refusal
from ..classic.group import ClassicGroup
from .assignment_steps import GroupChange
from .consumer_group import ConsumerGroup

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard


def begin_change(shard: GroupCoordinatorShard, group_id: str, *, create: bool) -> GroupChange:
    """Returns the change of a heartbeat's group; it begins with the records that convert the group
    from another type. Raises Refusal(GROUP_ID_NOT_FOUND)."""
    group = shard.groups.get(group_id)
    if group is None and not create:
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
    if group is None:
        return GroupChange(ConsumerGroup(shard, group_id))
    if create and isinstance(group, ClassicGroup) and group.is_empty:
        change = GroupChange(ConsumerGroup(shard, group_id), group.tombstones())
        change.after_write(group.retire)
        return change
    if isinstance(group, ConsumerGroup):
        return GroupChange(group)
    if create and isinstance(group, ClassicGroup):
        from .upgrade import upgrade

        return upgrade(group)
    raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
