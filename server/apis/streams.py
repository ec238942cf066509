"""The APIs of streams groups. The columns are those of `row`."""

from __future__ import annotations

from .row import NONE, ApiRow

ROWS = (
    ApiRow("StreamsGroupHeartbeat", forwarded=False, parts=NONE, right="READ group", part_right=NONE, secrets=NONE),
    ApiRow(
        "StreamsGroupDescribe",
        forwarded=False,
        parts="group:group_ids/groups",
        right=NONE,
        part_right="DESCRIBE group",
        secrets=NONE,
    ),
    ApiRow(
        "StreamsGroupTopologyDescriptionUpdate",
        forwarded=False,
        parts=NONE,
        right="READ group",
        part_right=NONE,
        secrets=NONE,
    ),
)
