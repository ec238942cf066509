"""The task assignors that streams groups may use, by name (`group.streams.assignors`).

A group that names one that is not here gets the first, as in Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .assignor.sticky_task_assignor import StickyTaskAssignor
from .task_assignor import TaskAssignor

if TYPE_CHECKING:
    from .streams_group import StreamsGroup

DEFAULT: TaskAssignor = StickyTaskAssignor()

ASSIGNORS: dict[str, TaskAssignor] = {DEFAULT.name: DEFAULT}


def task_assignor(group: StreamsGroup) -> TaskAssignor:
    """Return the assignor of the group."""
    name = group.shard.group_config(group.group_id, "streams.assignor.name")
    return ASSIGNORS.get(str(name), DEFAULT)
