"""Rows about records: the console producer and consumer, the verifiable ones, kafka-get-offsets,
kafka-delete-records."""

from __future__ import annotations

import json
import re

from ..parse import columns, counts, errors, everything, objects
from ..row import Row, Scenario, has

PRODUCER, CONSUMER, GET, DELETE = (
    "kafka-console-producer",
    "kafka-console-consumer",
    "kafka-get-offsets",
    "kafka-delete-records",
)
VERIFIABLE = "kafka-verifiable-producer", "kafka-verifiable-consumer"
CREATE = Row("kafka-topics", "", "--create --topic {topic} --config retention.ms=-1", ["Created topic {topic}."])
PARSED = "--reader-property parse.key=true --reader-property parse.headers=true --reader-property null.marker=NULL"
WHOLE = " ".join(
    f"--formatter-property print.{part}=true" for part in ("timestamp", "partition", "offset", "headers", "key")
)
TIMED = r"CreateTime:\d{13}\tPartition:0\t"


def _consumed(count: int) -> Row:
    """The records of a consumer, whose summary is on standard error."""
    return Row(CONSUMER, "", f"--topic {{topic}} --from-beginning --max-messages {count}", has(_total(count)), errors)


def _total(count: int) -> str:
    return f"Processed a total of {count} messages"


CONSOLE = (
    CREATE,
    Row(PRODUCER, "plain lines", "--topic {topic}", [], stdin="one\ntwo\n"),
    Row(
        PRODUCER,
        "keys, headers, nulls, compressed",
        f"--topic {{topic}} --compression-codec zstd --sync {PARSED}",
        [],
        stdin="h1:v1,h2:v2\tk1\tthree\nh1:NULL\tNULL\tfour\nh3:v3\tk2\tNULL\n",
    ),
    Row(
        CONSUMER,
        "all properties of a record",
        f"--topic {{topic}} --from-beginning --max-messages 5 --group {{group}} {WHOLE}",
        [
            re.compile(TIMED + "Offset:0\tNO_HEADERS\tnull\tone"),
            re.compile(TIMED + "Offset:1\tNO_HEADERS\tnull\ttwo"),
            re.compile(TIMED + "Offset:2\th1:v1,h2:v2\tk1\tthree"),
            re.compile(TIMED + "Offset:3\th1:null\tnull\tfour"),
            re.compile(TIMED + "Offset:4\th3:v3\tk2\tnull"),
        ],
    ),
    _consumed(5),
    Row(PRODUCER, "", "--topic {topic} --command-property acks=1", [], stdin="six\n"),
    Row(
        CONSUMER,
        "continues in its group",
        "--topic {topic} --group {group} --max-messages 1 --timeout-ms 15000",
        ["six"],
    ),
    Row(CONSUMER, "from an offset", "--topic {topic} --partition 0 --offset 2 --max-messages 1", ["three"]),
    Row(
        CONSUMER,
        "topics by a pattern, `read_committed`",
        "--include {topic}.* --from-beginning --max-messages 2 --isolation-level read_committed",
        ["one", "two"],
    ),
    Row(
        CONSUMER,
        "in a group of the new protocol",
        "--topic {topic} --from-beginning --max-messages 1 --timeout-ms 10000 --command-property group.protocol=consumer",
        lambda found: _total(1) in found,
        everything,
        needs="ConsumerGroupHeartbeat",
    ),
)

FROM = 1_700_000_000_000
VERIFIED = (
    CREATE,
    Row(
        VERIFIABLE[0],
        "20 records of 2023",
        f"--topic {{topic}} --max-messages 20 --acks -1 --value-prefix 7 --repeating-keys 5 --message-create-time {FROM}",
        {"startup_complete": 1, "producer_send_success": 20, "shutdown_complete": 1, "tool_data": 1},
        counts,
    ),
    Row(
        VERIFIABLE[1],
        "20 records in a group",
        "--topic {topic} --group-id {group} --max-messages 20 --reset-policy earliest --verbose",
        {
            "startup_complete": 1,
            "partitions_assigned": 1,
            "record_data": 20,
            "records_consumed": lambda times: times >= 1,
            "offsets_committed": lambda times: times >= 1,
            "shutdown_complete": 1,
        },
        counts,
    ),
    Row(
        "kafka-consumer-groups",
        "",
        "--describe --group {group} --offsets",
        [{"GROUP": "{group}", "TOPIC": "{topic}", "CURRENT-OFFSET": "20", "LOG-END-OFFSET": "20", "LAG": "0"}],
        columns,
    ),
    Row(VERIFIABLE[1], "", "--topic {topic} --group-id {group}-2 --max-messages 5 --reset-policy earliest --verbose",
        has({"name": "record_data", "key": "0", "value": "7.0", "partition": 0, "offset": 0},
            {"name": "record_data", "key": "4", "value": "7.4", "partition": 0, "offset": 4}), objects),
)  # fmt: skip


def _offsets(does: str, words: str, *found: str) -> Row:
    """By partition: the text after the topic's name."""
    return Row(GET, does, f"{words}", [f"{{topic}}:{one}" for one in found])


OFFSETS = (
    Row("kafka-topics", "", "--create --topic {topic} --partitions 2 --config retention.ms=-1"),
    Row(VERIFIABLE[0], "", f"--topic {{topic}} --max-messages 4 --repeating-keys 1 --message-create-time {FROM}"),
    _offsets("the end", "--topic {topic}", "0:4", "1:0"),
    _offsets("latest", "--topic {topic} --time latest", "0:4", "1:0"),
    _offsets("", "--topic {topic} --time -1", "0:4", "1:0"),
    _offsets("earliest", "--topic {topic} --time earliest", "0:0", "1:0"),
    _offsets("", "--topic {topic} --time -2", "0:0", "1:0"),
    _offsets("earliest-local", "--topic {topic} --time earliest-local", "0:0", "1:0"),
    _offsets("latest-tiered", "--topic {topic} --time latest-tiered"),
    _offsets("earliest-pending-upload", "--topic {topic} --time earliest-pending-upload"),
    _offsets("a time before", f"--topic {{topic}} --time {FROM - 1}", "0:0"),
    _offsets("a time after", f"--topic {{topic}} --time {FROM * 2}"),
    _offsets("of some partitions", "--topic-partitions {topic}:0", "0:4"),
    _offsets("", "--topic {topic} --partitions 1 --time earliest", "1:0"),
    Row(
        GET,
        "max-timestamp",
        "--topic {topic} --time max-timestamp",
        lambda found: len(found) == 1 and found[0].rsplit(":", 2)[1] == "0",
    ),
    Row(
        GET,
        "of an unknown topic",
        "--topic {topic}-no",
        ["Error occurred: Could not match any topic-partitions with the specified filters"],
        errors,
        code=1,
    ),
)

PLAN = {"version": 1, "partitions": [{"topic": "{topic}", "partition": 0, "offset": 3}]}
BEYOND = {"version": 1, "partitions": [{"topic": "{topic}", "partition": 0, "offset": 30}]}
DELETED = (
    CREATE,
    Row(PRODUCER, "", "--topic {topic}", [], stdin="one\ntwo\nthree\nfour\n"),
    Row(
        DELETE,
        "up to an offset",
        "--offset-json-file delete.json",
        [
            "Executing records delete operation",
            "Records delete operation completed:",
            "partition: {topic}-0\tlow_watermark: 3",
        ],
        files={"delete.json": json.dumps(PLAN)},
    ),
    Row(GET, "", "--topic {topic} --time earliest", ["{topic}:0:3"]),
    Row(CONSUMER, "", "--topic {topic} --from-beginning --max-messages 1", ["four"]),
    Row(
        DELETE,
        "beyond the end offset",
        "--offset-json-file delete.json",
        lambda found: "OffsetOutOfRangeException" in found,
        everything,
        files={"delete.json": json.dumps(BEYOND)},
    ),
)

SCENARIOS = (
    Scenario("console", CONSOLE),
    Scenario("verifiable", VERIFIED),
    Scenario("offsets", OFFSETS),
    Scenario("delete records", DELETED),
)
