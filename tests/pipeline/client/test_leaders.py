"""Three brokers whose leaders move: every record is read once and in order, and every batch is
stored once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import Client, LogTruncated, OffsetAndEpoch, TopicPartition
from tests.support.pipeline_client import batch, read, values

T0 = TopicPartition("t", 0)
VALUES = [b"%d" % number for number in range(30)]


@pytest.fixture(scope="module")
def brokers() -> Iterator[KafkaDouble]:
    with KafkaDouble(brokers=3) as double:
        yield double


@pytest.fixture
def double(brokers: KafkaDouble) -> Iterator[KafkaDouble]:
    """Thirty records in one partition, each a batch of its own."""
    brokers.create_topic("t", replication_factor=3)
    for value in VALUES:
        brokers.produce("t", value)
    yield brokers
    brokers.delete_topic("t")


def move(double: KafkaDouble) -> None:
    """Makes another broker the leader of the partition."""
    double.move_leader("t", 0, to=next(id for id in double.isr("t", 0) if id != double.leader("t", 0)))


def test_a_read_follows_the_leader(double: KafkaDouble, client: Client) -> None:
    found = []
    for fetched in client.read(T0, 0, 30, max_bytes=1):
        found += values([fetched.buffer])
        if len(found) % 10 == 5:
            move(double)
    assert found == VALUES
    assert client.offsets({T0: -1}) == {T0: OffsetAndEpoch(30, double.leader_epoch("t", 0))}


def test_a_producer_follows_the_leader(double: KafkaDouble, client: Client) -> None:
    producer = client.producer()
    for number in range(6):
        assert producer.send({T0: [batch(b"%d" % number)]}) == {T0: 30 + number}
        move(double)
    assert read(client, T0, 30, 36) == [b"%d" % number for number in range(6)]


def test_records_that_the_next_leader_lacks_are_reported(double: KafkaDouble, client: Client) -> None:
    reading = client.read(T0, 0, 40)
    assert values([next(reading).buffer]) == VALUES
    double.truncate("t", 0, 20)
    move(double)
    with pytest.raises(LogTruncated) as caught:
        next(reading)
    assert caught.value.end == OffsetAndEpoch(20, 0)
