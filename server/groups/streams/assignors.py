"""The task assignors that streams groups may use, by name (`group.streams.assignors`).

A group that names one that is not here gets the first, as in Kafka.
"""

from __future__ import annotations

from ..group_coordinator_shard import GroupCoordinatorShard
from .assignor.sticky_task_assignor import StickyTaskAssignor
from .assignor.task_assignor import TaskAssignor

DEFAULT: TaskAssignor = StickyTaskAssignor()

ASSIGNORS: dict[str, TaskAssignor] = {DEFAULT.name: DEFAULT}


def task_assignor(shard: GroupCoordinatorShard, group_id: str) -> TaskAssignor:
    """Returns the assignor of the group."""
    name = shard.group_config(group_id, "streams.assignor.name")
    return ASSIGNORS.get(str(name), DEFAULT)
