"""Rows about streams groups: kafka-streams-groups, and what others show of them."""

from __future__ import annotations

import re

from ..parse import columns, everything
from ..row import Row, Scenario, has

TOOL = "kafka-streams-groups"
INTERNAL = "{group}-repartition"


def _offsets(topic: str) -> dict[str, str]:
    return {"GROUP": "{group}", "TOPIC": topic, "PARTITION": "0"}


MEMBERS = (
    Row(TOOL, "list of a state", "--list --state stable", has({"GROUP": "{group}", "STATE": "Stable"}), columns),
    Row(
        "kafka-groups",
        "list of streams groups",
        "--list --streams",
        has({"GROUP": "{group}", "TYPE": "Streams", "PROTOCOL": "streams"}),
        columns,
    ),
    Row(TOOL, "describe offsets", "--describe --group {group}", has(_offsets("{topic}"), _offsets(INTERNAL)), columns),
    Row(
        TOOL,
        "describe offsets, verbose",
        "--describe --group {group} --verbose",
        has({**_offsets("{topic}"), "CURRENT-OFFSET": "1"}, {**_offsets(INTERNAL), "CURRENT-OFFSET": "-"}),
        columns,
    ),
    Row(
        TOOL,
        "describe members",
        "--describe --group {group} --members",
        has(
            {
                "GROUP": "{group}",
                "MEMBER": "m",
                "PROCESS": "p",
                "ASSIGNMENTS": re.compile(r"ACTIVE: 0:\[0\]; 1:\[0\];.*"),
            }
        ),
        columns,
    ),
    Row(
        TOOL,
        "describe the state",
        "--describe --group {group} --state --verbose",
        has({"GROUP": "{group}", "STATE": "Stable", "#MEMBERS": "1"}),
        columns,
    ),
    Row(
        TOOL,
        "delete a group with members",
        "--delete --group {group}",
        lambda found: "GroupNotEmptyException: Streams group '" in found,
        everything,
    ),
)

EMPTY = (
    Row(TOOL, "list with states", "--list --state", has({"GROUP": "{group}", "STATE": "Empty"}), columns),
    Row(
        TOOL,
        "delete-offsets",
        "--delete-offsets --group {group} --input-topic {topic}",
        has(re.compile(r"\S+ +0 +Successful")),
    ),
    Row(
        TOOL,
        "delete with its internal topics",
        "--delete --group {group} --delete-all-internal-topics",
        has("Deletion of requested streams groups ('{group}') was successful."),
    ),
)

SCENARIOS = (
    Scenario("streams groups with a member", MEMBERS, streams="member"),
    Scenario("streams groups", EMPTY, streams="left"),
)
