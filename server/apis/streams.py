"""The APIs of streams groups. The columns are those of `row`."""

from __future__ import annotations

from .row import BOTH, FIRST, NONE, ROW, ApiRow

ROWS = (
    ApiRow(
        "StreamsGroupHeartbeat",
        forwarded=False,
        parts=NONE,
        right="READ group",
        part_right=NONE,
        guard=BOTH,
        secrets=NONE,
    ),
    ApiRow(
        "StreamsGroupDescribe",
        forwarded=False,
        parts="group:group_ids/groups",
        right=NONE,
        part_right="DESCRIBE group",
        guard=BOTH,
        secrets=NONE,
        refused_parts=FIRST,
    ),
    ApiRow(
        "StreamsGroupTopologyDescriptionUpdate",
        forwarded=False,
        parts=NONE,
        right="READ group",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
)
