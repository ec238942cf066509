"""The tools that measure; what is looked at is that they count right, not how fast they are."""

from __future__ import annotations

import re

from ..parse import commas
from ..row import Row, Scenario, has

PRODUCER, CONSUMER = "kafka-producer-perf-test", "kafka-consumer-perf-test"

ROWS = (
    Row("kafka-topics", "", "--create --topic {topic} --partitions 2", ["Created topic {topic}."]),
    Row(
        PRODUCER,
        "1000 records",
        "--topic {topic} --num-records 1000 --record-size 100 --throughput -1",
        has(re.compile(r"1000 records sent, .* records/sec .* avg latency, .*")),
    ),
    Row(
        PRODUCER,
        "records of a file, compressed",
        "--topic {topic} --num-records 500 --payload-file lines.txt --throughput 100000 --print-metrics "
        "--command-config lz4.properties",
        has(re.compile(r"500 records sent, .*"), re.compile(r"producer-metrics:compression-rate-avg:.* : [01]\.\d+")),
        files={"lines.txt": "one line\nanother line\na third line\n", "lz4.properties": "compression.type=lz4\n"},
    ),
    Row(
        CONSUMER,
        "1500 records",
        "--topic {topic} --num-records 1500 --group {group} --timeout 20000",
        [{"data.consumed.in.nMsg": "1500"}],
        commas,
    ),
    Row(
        "kafka-e2e-latency",
        "50 records",
        "--topic {topic}-latency --num-records 50 --producer-acks all --record-size 64",
        has(re.compile(r"Avg latency: .* ms"), re.compile(r"Percentiles: 50th = \d+, 99th = \d+, 99\.9th = \d+")),
    ),
)

SCENARIOS = (Scenario("performance", ROWS),)
