"""The APIs of share groups and of their state. The columns are those of `row`."""

from __future__ import annotations

from .row import BOTH, FIRST, IN_ORDER, NONE, RIGHT, ROW, ApiRow

RESULTS = "topic:topics/results partition:partitions/partitions"


def _state_row(name: str) -> ApiRow:
    """The row of an API of the share coordinator; brokers send its requests."""
    return ApiRow(
        name, forwarded=False, parts=RESULTS, right="CLUSTER_ACTION cluster", part_right=NONE, guard=ROW, secrets=NONE
    )


ROWS = (
    ApiRow(
        "ShareGroupHeartbeat",
        forwarded=False,
        parts=NONE,
        right="READ group",
        part_right=NONE,
        guard=BOTH,
        secrets=NONE,
    ),
    ApiRow(
        "ShareGroupDescribe",
        forwarded=False,
        parts="group:group_ids/groups",
        right=NONE,
        part_right="DESCRIBE group",
        guard=BOTH,
        secrets=NONE,
        refused_parts=FIRST,
    ),
    ApiRow(
        "DescribeShareGroupOffsets",
        forwarded=False,
        parts="group:groups/groups topic:topics/topics partition:partitions/partitions",
        right=NONE,
        part_right="DESCRIBE group",
        guard=BOTH,
        secrets=NONE,
        refused_parts=IN_ORDER,
    ),
    ApiRow(
        "AlterShareGroupOffsets",
        forwarded=False,
        parts="topic:topics/responses partition:partitions/partitions",
        right="READ group",
        part_right="READ topic",
        guard=RIGHT,
        secrets=NONE,
    ),
    ApiRow(
        "DeleteShareGroupOffsets",
        forwarded=False,
        parts="topic:topics/responses",
        right="DELETE group",
        part_right="READ topic",
        guard=RIGHT,
        secrets=NONE,
    ),
    _state_row("InitializeShareGroupState"),
    _state_row("ReadShareGroupState"),
    _state_row("WriteShareGroupState"),
    _state_row("DeleteShareGroupState"),
    _state_row("ReadShareGroupStateSummary"),
)
