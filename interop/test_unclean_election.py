"""Acknowledged records are lost by an unclean election (KIP-320), as it happens in production: what
each client detects and does.

The five lines of docs/clusters.md run under a consumer that has read all records. What a client
sends meanwhile is in test_truncation.py, where the log of one broker is truncated.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import confluent_kafka
import pytest

from interop.brokers import Broker
from interop.clients import Client
from interop.clients.shape import Consumer, Partition, Refused
from interop.local.jars import Missing
from interop.truncation.reader import Reader, reading
from kafkadouble import KafkaDouble
from tests.support.waiting import eventually

pytestmark = pytest.mark.needs("faults")

T = Partition("orders", 0)
KEPT, LOST = 3, 2
"""The number of records that every replica has, and the number that only the killed leader has."""
READ = KEPT + LOST

PROTOCOLS = ["classic", "consumer"]
"""Kafka's two consumers: each has its own code for this."""


@pytest.fixture
def kafka(broker: Broker) -> Iterator[KafkaDouble]:
    """Three brokers. The leader has written records that the other replicas, which are cut off,
    lack; it alone is in sync."""
    with KafkaDouble(brokers=3, stepped=True) as kafka:
        kafka.create_topic("orders", replication_factor=3)
        kafka.move_leader("orders", 0, to=1)
        for n in range(KEPT):
            kafka.produce("orders", f"kept {n}")

        kafka.brokers[2].isolate()
        kafka.brokers[3].isolate()
        kafka.advance(35)  # replica.lag.time.max.ms is 30 s
        for n in range(LOST):
            kafka.produce("orders", f"lost {n}")
        yield kafka


def lose(kafka: KafkaDouble) -> None:
    """Kills the leader, and elects a replica that lacks the last records."""
    kafka.brokers[1].kill()
    kafka.brokers[2].join()
    kafka.brokers[3].join()
    kafka.advance(10)
    assert kafka.unclean_election("orders", 0, to=2) == 2
    assert kafka.produce("orders", "new") == KEPT
    assert [record.value for record in kafka.records("orders")] == [b"kept 0", b"kept 1", b"kept 2", b"new"]


def waits(kafka: KafkaDouble) -> None:
    """Waits until the reader has fetched at the end of the log."""

    def last() -> list[int]:
        bodies: list[Any] = [seen.body for seen in kafka.requests.of("Fetch", client_id="reader")]
        return [part.fetch_offset for body in bodies for topic in body.topics for part in topic.partitions][-1:]

    eventually(last, lambda found: found == [READ])


CONFLUENT = pytest.mark.clients(names=("confluent-kafka",))


@contextmanager
def read_all(kafka: KafkaDouble, client: Client, reset: str) -> Iterator[Consumer]:
    """A consumer that begins with the first record, whatever its policy, and has read the last."""
    settings = {"client_id": "reader", "auto_offset_reset": reset, "metadata_max_age_ms": 1000}
    with client.consumer(kafka.bootstrap_servers, partitions=[T], **settings) as reader:
        # The client can seek only in a partition that it reads already.
        reader._it.assign([confluent_kafka.TopicPartition(*T, 0)])
        assert [seen.value for seen in reader.read(READ)][-1] == b"lost 1"
        yield reader


TRUNCATION_ERROR = (
    r"_AUTO_OFFSET_RESET: Partition log truncation detected at offset 5 \(leader epoch \d+\): broker end offset is 3"
)


@CONFLUENT
def test_a_client_without_a_reset_policy_gets_the_offset_of_the_divergence(kafka: KafkaDouble, client: Client) -> None:
    with read_all(kafka, client, "error") as reader:
        lose(kafka)
        with pytest.raises(Refused, match=TRUNCATION_ERROR):
            reader.read(1)


@CONFLUENT
def test_a_client_with_a_reset_policy_goes_on_there(kafka: KafkaDouble, client: Client) -> None:
    with read_all(kafka, client, "earliest") as reader:
        lose(kafka)
        assert [(seen.offset, seen.value) for seen in reader.read(1)] == [(KEPT, b"new")]


@pytest.fixture
def java(request: pytest.FixtureRequest, kafka: KafkaDouble) -> Iterator[Reader]:
    """Kafka's own consumer, after it has read all records."""
    reset, protocol = request.param
    try:
        with reading(kafka.bootstrap_servers, "orders", reset=reset, protocol=protocol) as running:
            for n in range(READ):
                assert running.next_event()[:2] == ["record", str(n)]
            waits(kafka)
            yield running
    except Missing as missing:
        pytest.skip(f"Kafka's own consumer cannot run here: {missing}")


@pytest.mark.parametrize("java", [("none", protocol) for protocol in PROTOCOLS], indirect=True, ids=PROTOCOLS)
def test_java_throws_a_log_truncation(kafka: KafkaDouble, java: Reader) -> None:
    lose(kafka)
    assert java.next_event()[:3] == ["truncated", str(READ), str(KEPT)]
    assert java.next_event()[::3] == ["record", "new"]


@pytest.mark.parametrize("java", [("earliest", protocol) for protocol in PROTOCOLS], indirect=True, ids=PROTOCOLS)
def test_java_with_a_reset_policy_goes_on_where_the_histories_part(kafka: KafkaDouble, java: Reader) -> None:
    lose(kafka)
    event = java.next_event()
    assert (event[1], event[3]) == (str(KEPT), "new")
