"""kafka-topics."""

from __future__ import annotations

from ..parse import lines, pairs
from ..row import Row, Scenario, has

TOOL = "kafka-topics"
FAILED = "Error while executing topic command : "


def _described(partitions: int) -> list[dict[str, str]]:
    one = {"Topic": "{topic}", "Leader": "{node}", "Replicas": "{node}", "Isr": "{node}", "Elr": "", "LastKnownElr": ""}
    head = {"Topic": "{topic}", "PartitionCount": str(partitions), "ReplicationFactor": "1"}
    return [head, *(one | {"Partition": str(number)} for number in range(partitions))]


ROWS = (
    Row(
        TOOL,
        "create",
        "--create --topic {topic} --partitions 3 --replication-factor 1 --config cleanup.policy=compact",
        ["Created topic {topic}."],
    ),
    Row(
        TOOL,
        "create an existing topic",
        "--create --topic {topic} --partitions 3",
        [FAILED + "Topic '{topic}' already exists."],
        code=1,
    ),
    Row(TOOL, "", "--create --topic {topic} --if-not-exists", []),
    Row(
        TOOL,
        "create with an unknown setting",
        "--create --topic {topic}-no --config no.such=1",
        [FAILED + "Unknown topic config name: no.such"],
        code=1,
    ),
    Row(
        TOOL,
        "create with more replicas than brokers (refused)",
        "--create --topic {topic}-no --replication-factor 99",
        lambda found: "Unable to replicate the partition 99 time(s)" in found[0],
        code=1,
    ),
    Row(
        TOOL, "create with a replica assignment", "--create --topic {topic}-by-hand --replica-assignment {node},{node}"
    ),
    Row(TOOL, "describe", "--describe --topic {topic}", _described(3), pairs),
    Row(
        TOOL,
        "",
        "--describe --topic {topic}",
        lambda found: "cleanup.policy=compact" in found[0]["Configs"].split(","),
        pairs,
    ),
    Row(TOOL, "list", "--list --exclude-internal", has("{topic}", "{topic}-by-hand"), lines),
    Row(TOOL, "alter partitions", "--alter --topic {topic} --partitions 4", []),
    Row(TOOL, "", "--describe --topic {topic}", _described(4), pairs),
    Row(
        TOOL,
        "alter to fewer partitions (refused)",
        "--alter --topic {topic} --partitions 2",
        [FAILED + "The topic {topic} currently has 4 partition(s); 2 would not be an increase."],
        code=1,
    ),
    Row(
        TOOL,
        "describe unavailable and under-replicated partitions",
        "--describe --topic {topic} --under-replicated-partitions",
        [],
    ),
    Row(TOOL, "", "--describe --topic {topic} --unavailable-partitions", []),
    Row(TOOL, "", "--describe --topic {topic} --at-min-isr-partitions", lambda found: len(found) == 4),
    Row(
        TOOL, "describe with overrides", "--describe --topic {topic} --topics-with-overrides", _described(4)[:1], pairs
    ),
    Row(TOOL, "delete", "--delete --topic {topic}", []),
    Row(TOOL, "delete by a pattern", "--delete --topic {topic}-by-....", []),
    Row(
        TOOL,
        "delete an unknown topic",
        "--delete --topic {topic}",
        [FAILED + "Topic '{topic}' does not exist as expected"],
        code=1,
    ),
    Row(TOOL, "", "--list --topic {topic}", []),
)

SCENARIOS = (Scenario("topics", ROWS),)
