"""The APIs of classic and consumer groups, and of committed offsets.

The columns are those of `row`.
"""

from __future__ import annotations

from .row import BOTH, FIRST, HANDLER, NONE, RIGHT, ROW, ApiRow

TOPICS_AND_PARTITIONS = "topic:topics/topics partition:partitions/partitions"

ROWS = (
    ApiRow(
        "OffsetCommit",
        forwarded=False,
        parts=TOPICS_AND_PARTITIONS,
        right="READ group",
        part_right="READ topic",
        guard=ROW,
        secrets=NONE,
        refused_parts=FIRST,
    ),
    ApiRow(
        "OffsetFetch",
        forwarded=False,
        parts=(
            "topic:topics/topics partition:partition_indexes/partitions",
            "group:groups/groups topic:topics/topics partition:partition_indexes/partitions",
        ),
        right="DESCRIBE group",
        part_right="DESCRIBE topic",
        guard=HANDLER,
        secrets=NONE,
    ),
    ApiRow(
        "FindCoordinator",
        forwarded=False,
        parts="coordinator:coordinator_keys/coordinators",
        right=NONE,
        part_right="DESCRIBE coordinator",
        guard=HANDLER,
        secrets=NONE,
    ),
    ApiRow("JoinGroup", forwarded=False, parts=NONE, right="READ group", part_right=NONE, guard=ROW, secrets=NONE),
    ApiRow("Heartbeat", forwarded=False, parts=NONE, right="READ group", part_right=NONE, guard=ROW, secrets=NONE),
    ApiRow("LeaveGroup", forwarded=False, parts=NONE, right="READ group", part_right=NONE, guard=ROW, secrets=NONE),
    ApiRow("SyncGroup", forwarded=False, parts=NONE, right="READ group", part_right=NONE, guard=ROW, secrets=NONE),
    ApiRow(
        "DescribeGroups",
        forwarded=False,
        parts="group:groups/groups",
        right=NONE,
        part_right="DESCRIBE group",
        guard=ROW,
        secrets=NONE,
        refused_parts=FIRST,
    ),
    ApiRow(
        "ListGroups",
        forwarded=False,
        parts=NONE,
        right="DESCRIBE cluster",
        part_right="DESCRIBE group",
        guard=HANDLER,
        secrets=NONE,
        right_or_parts=True,
    ),
    ApiRow(
        "DeleteGroups",
        forwarded=False,
        parts="group:groups_names/results",
        right=NONE,
        part_right="DELETE group",
        guard=ROW,
        secrets=NONE,
        counts_parts_once=True,
    ),
    ApiRow(
        "ConsumerGroupHeartbeat",
        forwarded=False,
        parts=NONE,
        right="READ group",
        part_right=NONE,
        guard=BOTH,
        secrets=NONE,
    ),
    ApiRow(
        "ConsumerGroupDescribe",
        forwarded=False,
        parts="group:group_ids/groups",
        right=NONE,
        part_right="DESCRIBE group",
        guard=BOTH,
        secrets=NONE,
        refused_parts=FIRST,
    ),
    ApiRow(
        "OffsetDelete",
        forwarded=False,
        parts=TOPICS_AND_PARTITIONS,
        right="DELETE group",
        part_right="READ topic",
        guard=RIGHT,
        secrets=NONE,
    ),
)
