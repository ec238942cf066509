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
from interop.raw import ask, batches_of
from interop.support import eventually
from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import Record, decode_records, encode_batch, iter_batches
from tests.server.transactions.producer import TransactionalProducer, fetched

SEEDS, ROUNDS, STEPS = range(1, 11), 4, 5
NEVER_MS = str(10 * 365 * 86_400_000)
AN_HOUR_MS = 3_600_000
CONFIGS = {
    "cleanup.policy": "compact",
    "delete.retention.ms": "0",
    "min.cleanable.dirty.ratio": "0",
    "min.compaction.lag.ms": NEVER_MS,
    "message.timestamp.after.max.ms": NEVER_MS,
    "segment.ms": str(AN_HOUR_MS),
}
SETTINGS: dict[str, Any] = {"log.cleaner.backoff.ms": 20, "transaction.state.log.num.partitions": 1}
BUSY = {14, 15, 16, 51}
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR,
CONCURRENT_TRANSACTIONS."""


class Broker:
    """One of the two brokers."""

    def __init__(self, address: str, begun_ms: int) -> None:
        self.address, self.begun_ms = address, begun_ms
        self.transactional: dict[str, TransactionalProducer] = {}

    def ask(self, body: Message, version: int) -> Any:
        return ask(self.address, body, version)

    def create(self, topic: str) -> None:
        of = CreateTopicsRequest
        configs = [of.CreatableTopicConfig(name=key, value=value) for key, value in CONFIGS.items()]
        made = of.CreatableTopic(name=topic, num_partitions=1, replication_factor=1, configs=configs)
        assert self.ask(of(topics=[made], timeout_ms=5000), 7).topics[0].error_code == 0
        eventually(lambda: fetched(self.ask, topic).error_code, lambda code: code == 0)

    def alter_lag(self, topics: list[str], value: str) -> None:
        of = IncrementalAlterConfigsRequest
        config = of.AlterableConfig(name="min.compaction.lag.ms", config_operation=0, value=value)
        resources = [of.AlterConfigsResource(resource_type=2, resource_name=each, configs=[config]) for each in topics]
        assert not any(each.error_code for each in self.ask(of(resources=resources), 1).responses)

    def end_offset(self, topic: str, isolation: int = 0) -> int:
        return self.offset_for(topic, -1, isolation)[0]

    def offset_for(self, topic: str, timestamp: int, isolation: int = 0) -> tuple[int, int]:
        of = ListOffsetsRequest
        looked_up = of.ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        body = of(
            replica_id=-1, isolation_level=isolation, topics=[of.ListOffsetsTopic(name=topic, partitions=[looked_up])]
        )
        found = self.ask(body, 7).topics[0].partitions[0]
        assert found.error_code == 0
        return found.offset, found.timestamp

    def produce(self, topic: str, hours: int, pairs: list[tuple[bytes, bytes | None]]) -> None:
        at = self.begun_ms + hours * 2 * AN_HOUR_MS
        data = bytes(encode_batch([Record(delta, at + delta, *pair) for delta, pair in enumerate(pairs)]))
        partition = ProduceRequest.PartitionProduceData(index=0, records=data)
        named = ProduceRequest.TopicProduceData(name=topic, partition_data=[partition])
        response = self.ask(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[named]), 9)
        assert response.responses[0].partition_responses[0].error_code == 0

    def producer(self, topic: str, number: int) -> TransactionalProducer:
        """Number 1 is one of transactions version 1, number 2 of version 2."""
        name = f"{topic}-{number}"
        if name not in self.transactional:
            made = self.transactional[name] = TransactionalProducer(self.ask, name, version=number)
            finds = FindCoordinatorRequest(key_type=1, coordinator_keys=[name])
            _until_done(lambda: self.ask(finds, 4).coordinators[0].error_code)
            _until_done(made.init)
        return self.transactional[name]

    def send(self, topic: str, number: int, key: bytes, value: bytes) -> None:
        _until_done(lambda: self.producer(topic, number).send(value, topic=topic, key=key))

    def end(self, topic: str, number: int, *, commit: bool) -> None:
        """Returns when the marker is written."""
        before = self.end_offset(topic)
        _until_done(lambda: self.producer(topic, number).end(commit=commit))
        eventually(lambda: self.end_offset(topic), lambda found: found == before + 1, pause=0.002)

    def seen(self, topic: str, isolation: int) -> dict[bytes | None, bytes | None]:
        """The last value of each key, for a consumer of this isolation level."""
        table: dict[bytes | None, bytes | None] = {}
        offset, end = self.offset_for(topic, -2)[0], self.end_offset(topic, isolation)
        while offset < end:
            answer = fetched(self.ask, topic, isolation=isolation, offset=offset)
            aborted = sorted(answer.aborted_transactions or (), key=lambda each: each.first_offset)
            skipped: set[int] = set()
            if not answer.records:
                return table
            data = bytes(answer.records)
            for position, header in iter_batches(data, partial=True):
                batch = data[position : position + header.size]
                while aborted and aborted[0].first_offset <= header.last_offset:
                    skipped.add(aborted.pop(0).producer_id)
                if header.is_control:
                    if any(each.key == bytes(4) for each in decode_records(batch)):
                        skipped.discard(header.producer_id)
                elif not (header.is_transactional and header.producer_id in skipped):
                    table |= {each.key: each.value for each in decode_records(batch) if each.offset >= offset}
                following = header.next_offset
            offset = following
        return {key: value for key, value in table.items() if value is not None}

    def kept(self, topic: str) -> list[tuple[object, ...]]:
        """What is left of each batch, without what the two must differ in: ids and times."""
        found = batches_of_topic(self, topic)
        return [
            (
                header.base_offset,
                header.last_offset,
                header.producer_id >= 0,
                header.producer_epoch,
                header.base_sequence,
                header.is_transactional,
                header.is_control,
                header.has_delete_horizon,
                header.max_timestamp if not header.is_control else 0,
                tuple((each.offset, each.key, each.value) for each in decode_records(batch)),
            )
            for header, batch in found
        ]


def batches_of_topic(broker: Broker, topic: str) -> list[tuple[Any, bytes]]:
    data = batches_of(broker.address, topic)
    return [(header, data[at : at + header.size]) for at, header in iter_batches(data)]


def _until_done(attempt: Callable[[], int]) -> None:
    """Repeats a request while the coordinator is not ready for it."""
    assert eventually(attempt, lambda code: code not in BUSY, pause=0.002) == 0


class History:
    """The history of one seed, step by step, on both brokers."""

    def __init__(self, brokers: list[Broker], seed: int) -> None:
        self.brokers, self.topic, self.chance = brokers, f"compacted-{seed}", Random(seed)
        self.hours = self.cleaned_to = 0
        self.open: set[int] = set()
        for each in brokers:
            each.create(self.topic)

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
