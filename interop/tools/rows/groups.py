"""Rows about groups: all that kafka-consumer-groups does, and the lists of kafka-groups,
kafka-share-groups and kafka-streams-groups."""

from __future__ import annotations

import re
from typing import Any

from ..parse import columns, errors, everything, lines, stream
from ..row import Row, Scenario, has, lacks, those
from .records import FROM

TOOL = "kafka-consumer-groups"
SETTLED = "Consumer group '{group}' has no active members."
RESET = "--reset-offsets --group {group}"


def _place(current: int, end: int = 4) -> dict[str, str]:
    return {
        "GROUP": "{group}",
        "TOPIC": "{topic}",
        "PARTITION": "0",
        "CURRENT-OFFSET": str(current),
        "LOG-END-OFFSET": str(end),
        "LAG": str(end - current),
        "CONSUMER-ID": "-",
    }


def _reset(does: str, words: str, offset: int, how: str = "--execute") -> Row:
    expected = [{"GROUP": "{group}", "TOPIC": "{topic}", "PARTITION": "0", "NEW-OFFSET": str(offset)}]
    return Row(TOOL, does and f"reset {does}", f"{RESET} {words} {how}", expected, columns)


def _now(offset: int) -> Row:
    return Row(TOOL, "", "--describe --group {group}", [_place(offset)], columns)


PREPARED = (
    Row("kafka-topics", "", "--create --topic {topic} --config retention.ms=-1"),
    Row(
        "kafka-verifiable-producer",
        "",
        f"--topic {{topic}} --max-messages 4 --repeating-keys 1 --message-create-time {FROM}",
    ),
    Row(
        "kafka-console-consumer", "", "--topic {topic} --from-beginning --max-messages 4 --group {group}", list("0123")
    ),
)

EMPTY = (
    *PREPARED,
    Row(TOOL, "list", "--list", has("{group}")),
    Row(TOOL, "list with states", "--list --state", has({"GROUP": "{group}", "STATE": "Empty"}), columns),
    Row(TOOL, "list of a state", "--list --state stable,empty", has({"GROUP": "{group}", "STATE": "Empty"}), columns),
    Row(TOOL, "list of a type", "--list --type classic", has({"GROUP": "{group}", "TYPE": "Classic"}), columns),
    Row(
        "kafka-groups",
        "list",
        "--list",
        has({"GROUP": "{group}", "TYPE": "Classic", "PROTOCOL": "consumer"}),
        columns,
    ),
    Row("kafka-groups", "list of a type", "--list --group-type classic", has({"GROUP": "{group}"}), columns),
    Row("kafka-share-groups", "list", "--list", lacks("{group}")),
    Row("kafka-streams-groups", "list", "--list", lacks("{group}")),
    Row(TOOL, "describe offsets", "--describe --group {group} --offsets", [_place(4)], columns),
    Row(TOOL, "", "--describe --group {group} --offsets --verbose", [_place(4)], columns),
    Row(
        TOOL,
        "describe state",
        "--describe --group {group} --state",
        [
            {
                "GROUP": "{group}",
                "COORDINATOR (ID)": "{host}:{port}  ({node})",
                "ASSIGNMENT-STRATEGY": "-",
                "STATE": "Empty",
                "#MEMBERS": "0",
            }
        ],
        columns,
    ),
    Row(TOOL, "describe no members", "--describe --group {group} --members", [SETTLED], errors),
    Row(TOOL, "describe all", "--describe --all-groups --state", has(re.compile(r"\S+ +\S+:\d+ .* Empty +0")), lines),
    Row(
        TOOL,
        "describe an unknown group",
        "--describe --group {group}-no",
        lambda found: "GroupIdNotFoundException: Group " in found and "-no not found." in found,
        everything,
    ),
    _reset("as a dry run", "--topic {topic} --to-earliest", 0, "--dry-run"),
    _now(4),
    _reset("to-earliest", "--topic {topic} --to-earliest", 0),
    _now(0),
    _reset("to-latest", "--topic {topic} --to-latest", 4),
    _reset("shift-by", "--topic {topic}:0 --shift-by -3", 1),
    _reset("to-offset", "--topic {topic}:0 --to-offset 2", 2),
    _reset("to-current", "--all-topics --to-current", 2),
    _reset("to-datetime", "--topic {topic} --to-datetime 2023-11-14T22:13:19.999Z", 0),
    _reset("by-duration", "--topic {topic} --by-duration P1D", 4),
    Row(TOOL, "reset export", f"{RESET} --topic {{topic}} --to-offset 1 --export --dry-run", ["{topic},0,1"]),
    Row(
        TOOL,
        "reset from-file",
        f"{RESET} --from-file plan.csv --execute",
        [{"GROUP": "{group}", "TOPIC": "{topic}", "PARTITION": "0", "NEW-OFFSET": "1"}],
        columns,
        files={"plan.csv": "{topic},0,1\n"},
    ),
    _now(1),
    Row(
        TOOL,
        "reset for a new group",
        "--reset-offsets --group {group}-new --topic {topic} --to-latest --execute",
        [{"GROUP": "{group}-new", "TOPIC": "{topic}", "PARTITION": "0", "NEW-OFFSET": "4"}],
        columns,
    ),
    Row(
        TOOL,
        "delete-offsets",
        "--delete-offsets --group {group} --topic {topic}:0",
        has(re.compile(r"\S+ +0 +Successful")),
    ),
    Row(TOOL, "", "--describe --group {group}", [SETTLED], errors),
    Row(
        TOOL,
        "delete",
        "--delete --group {group}-new",
        ["Deletion of requested consumer groups ('{group}-new') was successful."],
    ),
    Row(
        TOOL,
        "delete an unknown group",
        "--delete --group {group}-no",
        has(re.compile(r"\* Group '.*-no' could not be deleted due to: .*GroupIdNotFoundException: .*")),
    ),
    Row("kafka-topics", "", "--create --topic {group}-app-store-changelog"),
    Row(
        "kafka-streams-application-reset",
        "dry run",
        "--application-id {group}-app --input-topics {topic} --dry-run",
        has("Topic: {topic} Partition: 0 Offset: 0", "Deleting inferred internal topics [{group}-app-store-changelog]"),
    ),
    Row("kafka-topics", "", "--list", has("{group}-app-store-changelog")),
    Row(
        "kafka-streams-application-reset",
        "to-latest",
        "--application-id {group}-app --input-topics {topic} --to-latest",
        has("Topic: {topic} Partition: 0 Offset: 4"),
    ),
    Row("kafka-topics", "", "--list", lacks("{group}-app-store-changelog")),
    Row(
        TOOL,
        "",
        "--describe --group {group}-app",
        [{"TOPIC": "{topic}", "CURRENT-OFFSET": "4", "LAG": "0"}],
        columns,
    ),
)

MEMBERS = (
    Row(
        TOOL,
        "describe members",
        "--describe --group {group} --members",
        [{"GROUP": "{group}", "CLIENT-ID": re.compile(".+"), "HOST": re.compile("/.+"), "#PARTITIONS": "1"}],
        columns,
    ),
    Row(
        TOOL,
        "describe members, verbose",
        "--describe --group {group} --members --verbose",
        [{"GROUP": "{group}", "#PARTITIONS": "1", "CURRENT-ASSIGNMENT": "{topic}:0"}],
        columns,
    ),
    Row(
        TOOL,
        "describe the state of a stable group",
        "--describe --group {group} --state",
        [{"GROUP": "{group}", "STATE": "Stable", "#MEMBERS": "1", "ASSIGNMENT-STRATEGY": re.compile(r"\w+")}],
        columns,
    ),
    Row(
        TOOL,
        "reset of a group with members",
        f"{RESET} --topic {{topic}} --to-earliest --execute",
        lambda found: (
            "Assignments can only be reset if the group" in found and "but the current state is Stable" in found
        ),
        everything,
    ),
    Row(
        TOOL,
        "delete a group with members",
        "--delete --group {group}",
        has(re.compile(r"\* Group '.*' could not be deleted due to: .*GroupNotEmptyException: .*")),
    ),
)

FORMATTERS = "org.apache.kafka.tools.consumer"
STORED = "--topic __consumer_offsets --from-beginning --timeout-ms 3000 --formatter"
OURS = {"key": {"data": {"group": "{group}"}}}
NO_MEMBERS: dict[str, Any] = {"protocol": None, "leader": None, "members": []}
MEMBER: dict[str, Any] = {
    "clientId": "console-consumer",
    "groupInstanceId": None,
    "sessionTimeout": 45000,
    "rebalanceTimeout": 300000,
}

HISTORY = (
    *PREPARED,
    Row(TOOL, "", "--delete-offsets --group {group} --topic {topic}:0"),
    Row(TOOL, "", "--delete --group {group}"),
    Row(
        "kafka-console-consumer",
        "commits in `__consumer_offsets`",
        f"{STORED} {FORMATTERS}.OffsetsMessageFormatter",
        those(
            OURS,
            [
                {
                    "key": {"type": 1, "data": {"topic": "{topic}", "partition": 0}},
                    "value": {"version": 4, "data": {"offset": 4, "leaderEpoch": 0, "metadata": ""}},
                },
                {"value": None},
            ],
        ),
        stream,
    ),
    Row(
        "kafka-console-consumer",
        "groups in `__consumer_offsets`",
        f"{STORED} {FORMATTERS}.GroupMetadataMessageFormatter",
        those(
            OURS,
            [
                {
                    "key": {"type": 2},
                    "value": {"version": 3, "data": {"protocolType": "", "generation": 0} | NO_MEMBERS},
                },
                {"value": {"data": {"generation": 1, "protocol": "range", "members": [MEMBER]}}},
                {"value": {"data": {"protocolType": "consumer", "generation": 2} | NO_MEMBERS}},
                {"value": None},
            ],
        ),
        stream,
    ),
)

SCENARIOS = (
    Scenario("groups", EMPTY),
    Scenario("history of a group", HISTORY),
    Scenario("groups with a member", MEMBERS, member=True),
)
