"""Random transactional histories in Apache Kafka and in kafkadoubles, in memory and in files: a
read_committed fetch at every offset, of several sizes, lists the same aborted transactions.

Each seed has a topic with a small `index.interval.bytes`, on which the list depends. Its segments
begin by records that are much later than those before. Everything is fetched again after
DeleteRecords and further writes, and after a clean restart and further writes, without the double
in memory. Fetches of two topics at once leave too few bytes for the second. After DeleteRecords
the last stable offset and the record with the largest timestamp (ListOffsets -3) are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from interop.conftest import SUMMARY_LINE
from interop.local import Cluster, cluster
from kafkadouble import KafkaDouble

from .log_broker import AN_HOUR_MS, Broker, Fetched

pytestmark = pytest.mark.usefixtures("kafka_jars")

SEEDS, STEPS, PRODUCERS, DELETIONS = range(1, 9), 14, 3, 3
SIZES = (0, 1, 150, 400, 1500, 1 << 20)
INTERVALS = (0, 100, 250, 600, 4096)
CONFIGS = {"segment.ms": str(AN_HOUR_MS), "message.timestamp.after.max.ms": str(10**11)}
SETTINGS: dict[str, Any] = {"transaction.state.log.num.partitions": 1}


class Topic:
    """The history of one seed, step by step, on all brokers."""

    def __init__(self, brokers: list[Broker], seed: int) -> None:
        self.brokers, self.name, self.chance = brokers, f"aborted-{seed}", Random(seed)
        self.hours = 0
        self.open: set[int] = set()
        interval = self.chance.choice(INTERVALS)
        for broker in brokers:
            broker.create(self.name, {**CONFIGS, "index.interval.bytes": str(interval)})

    def all(self, do: Callable[[Broker], object]) -> None:
        for broker in self.brokers:
            do(broker)

    def write(self) -> None:
        for _ in range(STEPS):
            self.chance.choice([self.sends] * 5 + [self.ends] * 3 + [self.produces, self.rolls])()

    def sends(self) -> None:
        number, value = self.chance.randint(1, PRODUCERS), b"v" * self.chance.choice([1, 40, 200])
        values = [value] * self.chance.choice([1, 1, 3])
        self.open.add(number)
        self.all(lambda broker: broker.send(self.name, number, b"k", *values))

    def ends(self) -> None:
        if self.open:
            number, commit = self.open.pop(), self.chance.random() < 0.3
            self.all(lambda broker: broker.end(self.name, number, commit=commit))

    def produces(self) -> None:
        value = b"v" * self.chance.choice([1, 300])
        self.all(lambda broker: broker.produce(self.name, self.hours, [(b"k", value)]))

    def rolls(self) -> None:
        self.hours += 1
        self.produces()

    def deletes(self) -> None:
        """Deletes within batches, too, also those of open transactions."""
        first, end = self.brokers[-1].offset_for(self.name, -2)[0], self.brokers[-1].end_offset(self.name)
        offset = self.chance.randint(first, first + (end - first) // 2)
        self.all(lambda broker: broker.delete_records(self.name, offset))

    def ends_of(self, broker: Broker) -> tuple[object, ...]:
        """The last stable offset, and the record with the largest timestamp."""
        return broker.end_offset(self.name, 1), broker.offset_for(self.name, -3)

    def offsets(self) -> range:
        ends = [broker.end_offset(self.name) for broker in self.brokers]
        assert len(set(ends)) == 1, (self.name, ends)
        return range(self.brokers[-1].offset_for(self.name, -2)[0], ends[0] + 1)


@contextmanager
def servers(folder: Path) -> Iterator[tuple[Cluster, KafkaDouble, KafkaDouble]]:
    with (
        cluster(folder / "kafka", overrides=SETTINGS) as kafka,
        KafkaDouble(config=SETTINGS) as memory,
        KafkaDouble(config=SETTINGS, data_dir=folder / "double") as files,
    ):
        yield kafka, memory, files


def fetches_of(topics: list[Topic], chance: Random) -> Iterator[Fetched]:
    for topic in topics:
        for offset in topic.offsets():
            place = topic.name, offset
            yield from (Fetched((place,), size) for size in SIZES)
            first = chance.choice(topics)
            if first is not topic:
                before = first.name, chance.choice(first.offsets())
                yield Fetched((before, place), 1, chance.choice((1, 400)))


class Counted:
    """Compares what the brokers list, and the offsets that they tell."""

    def __init__(self) -> None:
        self.fetches = self.lookups = 0
        self.differ: list[object] = []

    def look_up(self, topic: Topic) -> None:
        self.lookups += 1
        found = [topic.ends_of(broker) for broker in topic.brokers]
        if any(each != found[-1] for each in found):
            self.differ.append((topic.name, topic.offsets(), found))

    def read(self, topics: list[Topic]) -> None:
        fetches = list(fetches_of(topics, Random(0)))
        found = [broker.listed(fetches) for broker in topics[0].brokers]
        for fetch, answers in zip(fetches, zip(*found, strict=True), strict=True):
            self.fetches += 1
            if any(answer != answers[-1] for answer in answers):
                self.differ.append((fetch, answers))


@pytest.mark.timeout(300)
def test_a_read_committed_fetch_lists_the_aborted_transactions_that_kafka_lists(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    counted, begun_ms = Counted(), int(time.time() * 1000) + AN_HOUR_MS
    with servers(tmp_path) as (kafka, memory, files):
        addresses = [memory.bootstrap_servers, files.bootstrap_servers, kafka.bootstrap]
        brokers = [Broker(address, begun_ms) for address in addresses]
        topics = [Topic(brokers, seed) for seed in SEEDS]
        for topic in topics:
            topic.write()
        counted.read(topics)
        for each in topics:
            for _ in range(DELETIONS):
                each.deletes()
                counted.look_up(each)
            each.write()
        counted.read(topics)
        files.stop()
        kafka.nodes[0].stop()
        kafka.nodes[0].start()
        files.start()
        del brokers[0]
        for each in topics:
            each.write()
        counted.read(topics)
    assert not counted.differ, f"{len(counted.differ)} of {counted.fetches} differ: {counted.differ[:5]}"
    summary = f"{counted.fetches} read_committed fetches list the same aborted transactions"
    record_property(SUMMARY_LINE, f"{summary}; {counted.lookups} offsets after DeleteRecords are the same")
