"""The pipeline's client with an Apache Kafka of three brokers, and of older releases: leaders that
are killed, and negotiated versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interop.local import Cluster, cluster
from interop.support import local_kafka, unique
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.pipeline.client import EARLIEST, Client, OffsetAndEpoch, OffsetOutOfRange, TopicPartition
from tests.support.client import ask
from tests.support.pipeline_client import batch, client_of, read, values
from tests.support.waiting import eventually

VALUES = [b"%d" % number for number in range(60)]
FOREVER = {"log.retention.ms": -1}
"""The records are of 1970: by default a broker deletes them as soon as it looks for old ones."""

COPIES = {"default.replication.factor": 3, "min.insync.replicas": 2, **FOREVER}


@pytest.fixture(scope="module")
def kafka(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with local_kafka(request), cluster(tmp_path_factory.mktemp("three"), brokers=3, overrides=COPIES) as running:
        yield running


@pytest.fixture
def ours(kafka: Cluster) -> Iterator[Client]:
    with client_of(kafka.bootstrap) as client:
        yield client


def made(client: Client) -> TopicPartition:
    """A topic of one partition with sixty records, each a batch of its own."""
    t0 = TopicPartition(unique("t"), 0)
    client.partitions(t0.topic, create=True)
    assert client.producer().send({t0: [batch(value) for value in VALUES]}) == {t0: 0}
    return t0


def metadata(kafka: Cluster, topic: str) -> list[Any]:
    """The metadata of the topic's partition at each running broker; empty for a broker that does
    not know it yet."""
    request = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)])
    running = [node.bootstrap for node in kafka.brokers if node.running]
    return [partition for at in running for partition in ask(at, request, 12).topics[0].partitions]


def leader(kafka: Cluster, topic: str) -> int:
    """The node id of the leader, once all brokers agree."""

    def leaders() -> list[int]:
        return [partition.leader_id for partition in metadata(kafka, topic)]

    return eventually(leaders, lambda found: len(found) == 3 and len(set(found)) == 1 and found[0] >= 0)[0]


def in_sync(kafka: Cluster, topic: str) -> list[int]:
    """The number of in-sync replicas at each broker."""
    return [len(partition.isr_nodes) for partition in metadata(kafka, topic)]


def test_a_read_and_a_producer_outlive_their_leader(kafka: Cluster, ours: Client) -> None:
    t0 = made(ours)
    with client_of(kafka.bootstrap) as other:
        producer, reading = other.producer(), ours.read(t0, 0, 60, max_bytes=1)
        found = values([next(reading).buffer])
        victim = next(node for node in kafka.brokers if node.id == leader(kafka, t0.topic))
        victim.kill()
        assert producer.send({t0: [batch(b"after")]}) == {t0: 60}
        found += values(fetched.buffer for fetched in reading)
        victim.start()
        assert found == VALUES
        epoch = ours.offsets({t0: -1})[t0]
        assert epoch is not None
        assert (epoch.offset, epoch.epoch > 0) == (61, True)
        assert ours.ends_of_epochs({t0: 0}) == {t0: OffsetAndEpoch(60, 0)}
        assert read(ours, t0, 59, 61, leader_epoch=0) == [b"59", b"after"]


def test_a_rolling_restart_goes_unnoticed(kafka: Cluster, ours: Client) -> None:
    t0 = made(ours)
    producer = ours.producer()
    for number, node in enumerate(kafka.brokers):
        node.stop()
        assert producer.send({t0: [batch(b"x")]}) == {t0: 60 + number}
        assert read(ours, t0, 0, 60, max_bytes=1) == VALUES
        node.start()
        eventually(lambda: in_sync(kafka, t0.topic), lambda found: found == [3, 3, 3])
    assert read(ours, t0, 60, 63) == [b"x"] * 3


def test_an_offset_that_is_not_there(ours: Client) -> None:
    t0 = made(ours)
    with pytest.raises(OffsetOutOfRange, match="has no offset 500: it has offsets from 0 to 60"):
        read(ours, t0, 500, 600)


@pytest.mark.parametrize("version", ["4.0.2", "3.9.2"])
def test_pipeline_client_reads_from_older_kafka_releases(
    request: pytest.FixtureRequest, tmp_path: Path, version: str
) -> None:
    with (
        local_kafka(request),
        cluster(tmp_path, version, overrides=FOREVER) as running,
        client_of(running.bootstrap) as client,
    ):
        t0 = made(client)
        assert client.offsets({t0: EARLIEST}) == {t0: OffsetAndEpoch(0, 0)}
        assert client.ends_of_epochs({t0: 0}) == {t0: OffsetAndEpoch(60, 0)}
        assert read(client, t0, 0, 60, leader_epoch=-1) == VALUES
        client.commit("g", {t0: OffsetAndEpoch(60, 0)})
        assert client.committed("g", [t0]) == {t0: OffsetAndEpoch(60, 0)}
