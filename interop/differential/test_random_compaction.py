"""A kafkadouble and an Apache Kafka that get the same random transactions, and compact them several
times: consumers see the same keys on both, and the same batches are left.

Each seed has a topic. A round writes to all topics, deletes records in some, and begins a new
segment in each, by a record that is much later than the one before; transactions may stay open.
Then `min.compaction.lag.ms` is lowered: a cleaner has done its part when it has cleaned up to the
segment with the last stable offset, by Kafka's checkpoint, and by the log of the double.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from interop.conftest import SUMMARY_LINE
from interop.local import Cluster, cluster
from kafkadouble import KafkaDouble
from tests.support.waiting import eventually

from .log_broker import AN_HOUR_MS, Broker, Fetched

pytestmark = pytest.mark.usefixtures("kafka_jars")

SEEDS, ROUNDS, STEPS = range(1, 11), 4, 5
NEVER_MS = str(10 * 365 * 86_400_000)
CONFIGS = {
    "cleanup.policy": "compact,delete",
    "retention.ms": "-1",
    "delete.retention.ms": "0",
    "min.cleanable.dirty.ratio": "0",
    "min.compaction.lag.ms": NEVER_MS,
    "message.timestamp.after.max.ms": NEVER_MS,
    "segment.ms": str(AN_HOUR_MS),
    "index.interval.bytes": "100",
}
SETTINGS: dict[str, Any] = {"log.cleaner.backoff.ms": 20, "transaction.state.log.num.partitions": 1}


class History:
    """The history of one seed, step by step, on both brokers."""

    def __init__(self, servers: Servers, brokers: list[Broker], seed: int) -> None:
        self.servers, self.brokers = servers, brokers
        self.topic, self.chance = f"compacted-{seed}", Random(seed)
        self.hours = self.cleaned_to = self.start = 0
        self.bases, self.open = [0], set[int]()
        for broker in brokers:
            broker.create(self.topic, CONFIGS)

    def both(self, do: Callable[[Broker], object]) -> None:
        for broker in self.brokers:
            do(broker)

    def write(self) -> None:
        steps = [self.sends] * 6 + [self.ends] * 4 + [self.produces] * 2 + [self.deletes]
        for _ in range(STEPS):
            self.chance.choice(steps)()
        self.rolls()

    def sends(self) -> None:
        number, key = self.chance.randint(1, 2), self.chance.choice([b"a", b"b", b"c"])
        value = b"%d" % self.chance.randrange(100)
        self.open.add(number)
        self.both(lambda broker: broker.send(self.topic, number, key, value))

    def ends(self) -> None:
        if self.open:
            number, commit = self.open.pop(), self.chance.random() < 0.5
            self.both(lambda broker: broker.end(self.topic, number, commit=commit))

    def produces(self) -> None:
        pairs = [
            (self.chance.choice([b"a", b"b", b"d"]), self.chance.choice([None, b"%d" % self.chance.randrange(100)]))
            for _ in range(self.chance.randint(1, 3))
        ]
        self.both(lambda broker: broker.produce(self.topic, self.hours, pairs))

    def rolls(self) -> None:
        """The next record begins a segment, the active one. Transactions may stay open."""
        while self.open and self.chance.random() < 0.8:
            self.ends()
        self.hours += 1
        self.bases.append(self.brokers[1].end_offset(self.topic))
        self.both(lambda broker: broker.produce(self.topic, self.hours, [(b"filler", b"")]))

    def deletes(self) -> None:
        """DeleteRecords; returns when the segments before it are deleted."""
        self.start = self.chance.randint(self.start, self.brokers[1].end_offset(self.topic, 1))
        self.both(lambda broker: broker.delete_records(self.topic, self.start))
        self.servers.double.retain(self.topic)
        folder = Path(self.servers.kafka.nodes[0].data) / f"{self.topic}-0"
        eventually(lambda: sorted(int(path.stem) for path in folder.glob("*.log"))[1:2], self.is_first, pause=0.01)

    def is_first(self, second: list[int]) -> bool:
        """Whether the segment before the second one has records that can be read."""
        return not second or second[0] > self.start

    @property
    def cleanable_to(self) -> int:
        """The start of the segment that holds the last stable offset, as in Kafka."""
        stable = self.brokers[1].end_offset(self.topic, 1)
        return max(base for base in self.bases if base <= stable)

    def compare(self) -> None:
        ours, theirs = self.brokers
        for isolation in (0, 1):
            assert ours.seen(self.topic, isolation) == theirs.seen(self.topic, isolation), self.topic
        assert ours.kept(self.topic) == theirs.kept(self.topic), self.topic
        offsets = range(theirs.offset_for(self.topic, -2)[0], theirs.end_offset(self.topic) + 1)
        fetches = [Fetched(((self.topic, offset),), size) for offset in offsets for size in (1, 300)]
        for fetch, *found in zip(fetches, ours.listed(fetches), theirs.listed(fetches), strict=True):
            assert found[0] == found[1], fetch
        for hours in range(self.hours + 1):
            at = ours.begun_ms + hours * 2 * AN_HOUR_MS
            assert ours.offset_for(self.topic, at) == theirs.offset_for(self.topic, at), (self.topic, hours)


def compact(histories: list[History], servers: Servers) -> None:
    due = [history for history in histories if history.cleanable_to > max(history.cleaned_to, history.start)]
    topics = [each.topic for each in due]
    for broker in histories[0].brokers:
        broker.alter_lag(topics, "0")
    for history in due:
        history.cleaned_to = history.cleanable_to
    ends = {each.topic: each.cleaned_to for each in due}
    for cleaned_to in (servers.cleaned_by_double, servers.cleaned_by_kafka):
        eventually(partial(cleaned_to, topics), lambda found: found == ends)
    for broker in histories[0].brokers:
        broker.alter_lag(topics, NEVER_MS)


class Servers(NamedTuple):
    """The two brokers."""

    kafka: Cluster
    double: KafkaDouble

    def cleaned_by_kafka(self, topics: list[str]) -> dict[str, int]:
        """What Kafka's checkpoint says of these topics."""
        path = Path(self.kafka.nodes[0].data) / "cleaner-offset-checkpoint"
        lines = [line.split(" ") for line in path.read_text().splitlines()[2:]] if path.exists() else []
        return {line[0]: int(line[2]) for line in lines if line[0] in topics}

    def cleaned_by_double(self, topics: list[str]) -> dict[str, int]:
        assert self.double._double_host.running is not None
        partitions = self.double._double_host.running.broker.node.partitions
        found = {topic: partitions.get(topic, 0) for topic in topics}
        return {topic: each.log.cleaned_to for topic, each in found.items() if each is not None}


@contextmanager
def both(folder: Path) -> Iterator[Servers]:
    with cluster(folder, overrides=SETTINGS) as kafka, KafkaDouble(config=SETTINGS) as double:
        yield Servers(kafka, double)


@pytest.mark.timeout(300)
def test_compacted_transactions_are_those_of_kafka(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    begun_ms = int(time.time() * 1000) + AN_HOUR_MS
    with both(tmp_path) as servers:
        addresses = [servers.double.bootstrap_servers, servers.kafka.bootstrap]
        brokers = [Broker(address, begun_ms) for address in addresses]
        histories = [History(servers, brokers, seed) for seed in SEEDS]
        for _ in range(ROUNDS):
            for history in histories:
                history.write()
            compact(histories, servers)
            for each in histories:
                each.compare()
        batches = sum(len(brokers[0].kept(history.topic)) for history in histories)
    record_property(SUMMARY_LINE, f"{batches} batches left by {ROUNDS} compactions of {len(SEEDS)} random histories")
