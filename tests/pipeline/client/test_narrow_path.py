"""What every pipeline does: find names, partitions and offsets, and read the records between two
offsets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import (
    EARLIEST,
    LATEST,
    Client,
    NoSuchPartition,
    NoSuchTopic,
    OffsetAndEpoch,
    OffsetOutOfRange,
    TopicPartition,
)
from kafkadouble.wire.batch import iter_batches

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture(scope="module")
def double() -> Iterator[KafkaDouble]:
    """A topic with two partitions: a hundred records, one per second, in partition 0, and none in
    partition 1."""
    with KafkaDouble() as double:
        double.create_topic("t", partitions=2)
        for number in range(100):
            double.produce("t", f"value {number}", partition=0, timestamp=1000 * number)
        yield double


@pytest.fixture
def client(double: KafkaDouble) -> Iterator[Client]:
    with Client({"bootstrap.servers": double.bootstrap_servers}) as client:
        yield client


def offsets_of(client: Client, start: int, end: int, max_bytes: int = 1 << 20) -> list[int]:
    """The base offsets of the batches that a read returns; each batch holds one record."""
    return [
        header.base_offset
        for fetched in client.read(T0, start, end, max_bytes=max_bytes)
        for _, header in iter_batches(fetched.buffer, partial=True)
    ]


def test_topics_and_partitions(client: Client) -> None:
    assert client.topics() == ["t"]
    assert client.partitions("t") == [0, 1]


def test_offsets_by_time(client: Client) -> None:
    assert client.offsets({T0: EARLIEST, T1: LATEST}) == {T0: OffsetAndEpoch(0, 0), T1: OffsetAndEpoch(0, 0)}
    assert client.offsets({T0: 41_001}) == {T0: OffsetAndEpoch(42, 0)}
    assert client.offsets({T0: 99_001, T1: LATEST}) == {T0: None, T1: OffsetAndEpoch(0, 0)}


def test_the_end_of_an_epoch(client: Client) -> None:
    assert client.ends_of_epochs({T0: 0, T1: 0}) == {T0: OffsetAndEpoch(100, 0), T1: OffsetAndEpoch(0, 0)}


@pytest.mark.parametrize("max_bytes", [1, 500, 1 << 20])
def test_a_read_brings_what_lies_between_two_offsets(client: Client, max_bytes: int) -> None:
    assert offsets_of(client, 0, 100, max_bytes) == list(range(100))
    assert offsets_of(client, 40, 41, 1) == [40]
    assert offsets_of(client, 100, 100) == []


def test_connection_serves_several_reads_in_sequence(double: KafkaDouble, client: Client) -> None:
    double.requests.clear()
    for _ in range(3):
        offsets_of(client, 0, 100, 500)
    assert len(double.requests.of("ApiVersions")) == 1


def test_unknown_topic_or_partition_is_named(client: Client) -> None:
    with pytest.raises(NoSuchTopic, match="no topic 'no'"):
        client.partitions("no")
    with pytest.raises(NoSuchPartition, match="t-7: the topic has 2 partitions"):
        client.offsets({TopicPartition("t", 7): LATEST})
    with pytest.raises(OffsetOutOfRange, match="t-0 has no offset 500: it has offsets from 0 to 100"):
        offsets_of(client, 500, 600)
