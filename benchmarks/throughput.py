"""Measures records per second through confluent-kafka: records of 100 bytes, one partition.

The rounds are interleaved with librdkafka's mock cluster, and with a real Kafka.

    python -m benchmarks.throughput [--records 500000] [--rounds 5] [--json]

Goals: produce at 0.9 of the mock's rate or more, consume at least as fast as the real Kafka, and
use less server CPU per million records than the real Kafka for both. The client is the same for all
and does most of the work, so the figures show how much the server delays it. Its queue holds all
records: with the default queue it may find the queue full, and then fetches nothing for a second.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from interop.real_kafka import Missing

from . import report, servers

PAYLOAD = b"x" * 100
Settings = Mapping[str, Any]
NONE: Settings = MappingProxyType({})


def create(bootstrap: str, topic: str, partitions: int = 1, settings: Settings = NONE) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, **settings})
    for future in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        future.result(20)


def produce(
    bootstrap: str,
    topic: str,
    records: int,
    payload: bytes = PAYLOAD,
    partitions: int = 1,
    settings: Settings = NONE,
) -> float:
    """Seconds from the first record to the last acknowledgement. The partitions take turns."""
    own = {
        "bootstrap.servers": bootstrap,
        "linger.ms": 5,
        "queue.buffering.max.messages": 1_000_000,
        "acks": "all",
    }
    producer = Producer({**own, **settings})
    producer.list_topics(topic, timeout=20)
    start = time.perf_counter()
    for at in range(records):
        producer.produce(topic, payload, partition=at % partitions)
    if producer.flush(120):
        raise RuntimeError(f"{len(producer)} records were not acknowledged")
    return time.perf_counter() - start


def consume(
    bootstrap: str,
    topic: str,
    records: int,
    partitions: int = 1,
    isolation: str = "read_committed",
    settings: Settings = NONE,
) -> float:
    """Seconds from assignment to the last record."""
    own = {"bootstrap.servers": bootstrap, "group.id": "bench", "auto.offset.reset": "earliest", **settings}
    queue = {"queued.min.messages": 10_000_000, "queued.max.messages.kbytes": 2_097_151}
    consumer = Consumer(own | queue | {"enable.auto.commit": False, "check.crcs": False, "isolation.level": isolation})
    start = time.perf_counter()
    consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    left = records
    while left > 0:
        messages = consumer.consume(min(left, 10_000), timeout=30)
        if not messages:
            raise RuntimeError(f"{left} of {records} records did not come")
        left -= len(messages)
    seconds = time.perf_counter() - start
    consumer.close()
    return seconds


class Figures:
    """The figures of one server, one value per round."""

    def __init__(self) -> None:
        self.produce: list[float] = []
        self.consume: list[float] = []
        self.produce_cpu: list[float] = []
        self.consume_cpu: list[float] = []

    def add(self, server: servers.Server, topic: str, records: int, *, consumes: bool) -> None:
        bootstrap, pid = server
        before = servers.cpu_seconds(pid)
        self.produce.append(records / produce(bootstrap, topic, records))
        between = servers.cpu_seconds(pid)
        self.produce_cpu.append((between - before) * 1e6 / records)
        if consumes:
            self.consume.append(records / consume(bootstrap, topic, records))
            self.consume_cpu.append((servers.cpu_seconds(pid) - between) * 1e6 / records)


def measure(records: int, rounds: int) -> dict[str, Figures]:
    """The figures of every server; of a real Kafka only where it can run."""
    figures = {"ours": Figures(), "mock": Figures()}
    with ExitStack() as stack:
        running = {"ours": stack.enter_context(servers.ours()), "mock": stack.enter_context(servers.mock())}
        try:
            running["kafka"] = stack.enter_context(servers.kafka())
            figures["kafka"] = Figures()
        except Missing as why:
            report.note(f"no real Kafka to compare with: {why}")
        for turn in range(rounds + 1):
            for name, server in running.items():
                topic = f"bench-{turn}"
                create(server[0], topic) if name != "mock" else None
                target = figures[name] if turn else Figures()  # the first round warms up
                target.add(server, topic, records if turn else records // 5, consumes=name != "mock")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.records, arguments.rounds)
    table = report.Table("throughput", "records/s; cpu: server seconds a million records")
    for case in ("produce", "consume", "produce_cpu", "consume_cpu"):
        medians = {
            name: statistics.median(getattr(figure, case)) for name, figure in figures.items() if getattr(figure, case)
        }
        peers: dict[str, Any] = {name: value for name, value in medians.items() if name != "ours"}
        table.add(case, medians["ours"], peers)
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
