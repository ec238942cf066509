"""One of the two brokers whose logs are compared: writes to its topics, also in transactions, and
reads what is left of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import Record, decode_records, encode_batch, iter_batches
from tests.support.client import Connection, ask, batches_of
from tests.support.transactional_producer import TransactionalProducer, fetched
from tests.support.waiting import eventually

AN_HOUR_MS = 3_600_000
BUSY = {14, 15, 16, 51}
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR,
CONCURRENT_TRANSACTIONS."""


Listed = list[tuple[str, int]] | None


class Fetched(NamedTuple):
    """A read_committed fetch of one partition or two."""

    places: tuple[tuple[str, int], ...]
    partition_max_bytes: int
    max_bytes: int = 1 << 20

    def request(self) -> FetchRequest:
        of, most = FetchRequest, self.partition_max_bytes
        topics = [
            of.FetchTopic(
                topic=topic,
                partitions=[of.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=most)],
            )
            for topic, offset in self.places
        ]
        return of(max_bytes=self.max_bytes, max_wait_ms=0, isolation_level=1, topics=topics)


class Broker:
    def __init__(self, address: str, begun_ms: int) -> None:
        self.address, self.begun_ms = address, begun_ms
        self.transactional: dict[str, TransactionalProducer] = {}

    def ask(self, body: Message, version: int) -> Any:
        return ask(self.address, body, version)

    def create(self, topic: str, given: Mapping[str, str]) -> None:
        of = CreateTopicsRequest
        configs = [of.CreatableTopicConfig(name=key, value=value) for key, value in given.items()]
        made = of.CreatableTopic(name=topic, num_partitions=1, replication_factor=1, configs=configs)
        assert self.ask(of(topics=[made], timeout_ms=5000), 7).topics[0].error_code == 0
        eventually(lambda: fetched(self.ask, topic).error_code, lambda code: code == 0)

    def alter_lag(self, topics: list[str], value: str) -> None:
        of = IncrementalAlterConfigsRequest
        config = of.AlterableConfig(name="min.compaction.lag.ms", config_operation=0, value=value)
        resources = [of.AlterConfigsResource(resource_type=2, resource_name=each, configs=[config]) for each in topics]
        assert not any(response.error_code for response in self.ask(of(resources=resources), 1).responses)

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

    def send(self, topic: str, number: int, key: bytes, *values: bytes) -> None:
        """One batch of a transaction."""
        _until_done(lambda: self.producer(topic, number).send(*values, topic=topic, key=key))

    def end(self, topic: str, number: int, *, commit: bool) -> None:
        """Returns when the marker is written."""
        before = self.end_offset(topic)
        _until_done(lambda: self.producer(topic, number).end(commit=commit))
        eventually(lambda: self.end_offset(topic), lambda found: found == before + 1, pause=0.002)

    def delete_records(self, topic: str, offset: int) -> None:
        of = DeleteRecordsRequest
        partition = of.DeleteRecordsPartition(partition_index=0, offset=offset)
        body = of(topics=[of.DeleteRecordsTopic(name=topic, partitions=[partition])], timeout_ms=5000)
        assert self.ask(body, 2).topics[0].partitions[0].error_code == 0

    def listed(self, fetches: Iterable[Fetched]) -> Iterator[list[Listed]]:
        """The aborted transactions that the answers list: the producer's name and the offset."""
        names = {each.producer_id: name for name, each in self.transactional.items()}
        with closing(Connection(self.address)) as connection:
            for fetch in fetches:
                yield [
                    aborted and [(names[each.producer_id], each.first_offset) for each in aborted]
                    for topic in connection.ask(fetch.request(), 12).responses
                    for aborted in [topic.partitions[0].aborted_transactions]
                ]

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
                    if any(record.key == bytes(4) for record in decode_records(batch)):
                        skipped.discard(header.producer_id)
                elif not (header.is_transactional and header.producer_id in skipped):
                    table |= {record.key: record.value for record in decode_records(batch) if record.offset >= offset}
                following = header.next_offset
            offset = following
        return {key: value for key, value in table.items() if value is not None}

    def kept(self, topic: str) -> list[tuple[object, ...]]:
        """What is left of each batch, without what the two must differ in: ids and times."""
        batches = batches_of_topic(self, topic)
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
                tuple((record.offset, record.key, record.value) for record in decode_records(batch)),
            )
            for header, batch in batches
        ]


def batches_of_topic(broker: Broker, topic: str) -> list[tuple[Any, bytes]]:
    data = batches_of(broker.address, topic, offset=broker.offset_for(topic, -2)[0])
    return [(header, data[at : at + header.size]) for at, header in iter_batches(data)]


def _until_done(attempt: Callable[[], int]) -> None:
    """Repeats a request while the coordinator is not ready for it."""
    assert eventually(attempt, lambda code: code not in BUSY, pause=0.002) == 0
