"""The configurations of a streams group: its own, else the broker's (`streams.*`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

NUM_STANDBY_REPLICAS, RACK_AWARE_ASSIGNMENT_TAGS = "num.standby.replicas", "rack.aware.assignment.tags"
"""The configurations of the assignment, as the group's record names them."""


def assignment_configs(shard: GroupCoordinatorShard, group_id: str) -> Mapping[str, str]:
    """Returns what an assignment depends on; when it changes, the group gets another assignment."""
    tags = shard.group_config(group_id, "streams.rack.aware.assignment.tags")
    assert isinstance(tags, tuple)
    found = {NUM_STANDBY_REPLICAS: str(shard.int_group_config(group_id, "streams.num.standby.replicas"))}
    if tags:
        found[RACK_AWARE_ASSIGNMENT_TAGS] = ",".join(tags)
    return found
