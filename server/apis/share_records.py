"""The APIs of share groups that deliver and acknowledge records. The columns are those of `row`."""

from __future__ import annotations

from .row import NONE, RIGHT, ApiRow

ROWS = (
    ApiRow(
        "ShareFetch",
        forwarded=False,
        parts="topic:topics/responses partition:partitions/partitions",
        right="READ group",
        part_right="READ topic",
        guard=RIGHT,
        secrets=NONE,
    ),
    ApiRow(
        "ShareAcknowledge",
        forwarded=False,
        parts="topic:topics/responses partition:partitions/partitions",
        right="READ group",
        part_right="READ topic",
        guard=RIGHT,
        secrets=NONE,
    ),
)
