"""A kafkadouble and an Apache Kafka that get the same random transactions, and compact them several
times: consumers see the same keys on both, and the same batches are left.

Each seed has a topic. A round writes to all topics and begins a new segment in each, by a record
that is much later than the one before. Then `min.compaction.lag.ms` is lowered: the double compacts
at once, and Kafka's cleaner has done its part when its checkpoint names the end of what may be
cleaned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from interop.conftest import SUMMARY_LINE
from interop.local import Cluster, Missing, cluster
from interop.support import eventually
from kafkadouble import KafkaDouble

from .log_broker import AN_HOUR_MS, Broker, Fetched

SEEDS, ROUNDS, STEPS = range(1, 11), 4, 5
NEVER_MS = str(10 * 365 * 86_400_000)
CONFIGS = {
    "cleanup.policy": "compact",
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

    def __init__(self, brokers: list[Broker], seed: int) -> None:
        self.brokers, self.topic, self.chance = brokers, f"compacted-{seed}", Random(seed)
        self.hours = self.cleaned_to = 0
        self.open: set[int] = set()
        for each in brokers:
            each.create(self.topic, CONFIGS)

    def both(self, do: Callable[[Broker], object]) -> None:
        for each in self.brokers:
            do(each)

    def write(self) -> None:
        for _ in range(STEPS):
            self.chance.choice([self.sends, self.sends, self.sends, self.ends, self.ends, self.produces])()
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
        """The next record begins a segment, the active one. The double does that by itself before
        it compacts."""
        while self.open:
            self.ends()
        self.hours += 1
        self.active = self.brokers[1].end_offset(self.topic)
        self.fills(self.brokers[1])

    def fills(self, broker: Broker) -> None:
        broker.produce(self.topic, self.hours, [(b"filler", b"")])

    @property
    def cleanable_to(self) -> int:
        return min(self.active, self.brokers[1].end_offset(self.topic, 1))

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


def compact(histories: list[History], kafka: Cluster, double: KafkaDouble) -> None:
    due = [each for each in histories if each.cleanable_to > each.cleaned_to]
    topics = [each.topic for each in due]
    for broker in histories[0].brokers:
        broker.alter_lag(topics, "0")
    for history in due:
        double.compact(history.topic)
        history.cleaned_to = history.cleanable_to
    for history in histories:
        history.fills(history.brokers[0])
    ends = {each.topic: each.cleaned_to for each in due}
    eventually(partial(cleaned_to, kafka, topics), lambda found: found == ends)
    for broker in histories[0].brokers:
        broker.alter_lag(topics, NEVER_MS)


def cleaned_to(kafka: Cluster, topics: list[str]) -> dict[str, int]:
    """What Kafka's checkpoint says of these topics."""
    path = Path(kafka.nodes[0].data) / "cleaner-offset-checkpoint"
    lines = [line.split(" ") for line in path.read_text().splitlines()[2:]] if path.exists() else []
    return {line[0]: int(line[2]) for line in lines if line[0] in topics}


@contextmanager
def both(folder: Path) -> Iterator[tuple[Cluster, KafkaDouble]]:
    own = {**SETTINGS, "log.cleaner.backoff.ms": 10**9}
    with cluster(folder, overrides=SETTINGS) as kafka, KafkaDouble(config=own) as double:
        yield kafka, double


@pytest.mark.timeout(300)
def test_compacted_transactions_are_those_of_kafka(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    begun_ms = int(time.time() * 1000) + AN_HOUR_MS
    try:
        with both(tmp_path) as (kafka, double):
            brokers = [Broker(double.bootstrap_servers, begun_ms), Broker(kafka.bootstrap, begun_ms)]
            histories = [History(brokers, seed) for seed in SEEDS]
            for _ in range(ROUNDS):
                for each in histories:
                    each.write()
                compact(histories, kafka, double)
                for each in histories:
                    each.compare()
            batches = sum(len(brokers[0].kept(each.topic)) for each in histories)
    except Missing as missing:
        pytest.skip(f"NOTHING WAS COMPARED WITH APACHE KAFKA: {missing}")
    record_property(SUMMARY_LINE, f"{batches} batches left by {ROUNDS} compactions of {len(SEEDS)} random histories")
