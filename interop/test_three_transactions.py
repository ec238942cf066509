"""Transactions in a cluster of three brokers: the coordinator of the transactional id, the leaders
of the partitions and the coordinator of the group are on different brokers, and one of them is
away for a while."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interop.brokers import Broker
from interop.clients import CREATOR, Client
from interop.clients.shape import Consumer, Partition, Record
from interop.support import SPREAD, unique
from tests.support.waiting import eventually

pytestmark = [pytest.mark.needs("three_brokers"), pytest.mark.usefixtures("collected", "every_broker_lists_all")]


@pytest.fixture
def committed(broker: Broker, client: Client, copied: str) -> Iterator[Consumer]:
    """A reader with read_committed of all partitions."""
    every = [Partition(copied, index) for index in SPREAD]
    with client.consumer(broker.bootstrap, partitions=every, isolation_level="read_committed") as consumer:
        yield consumer


def everywhere(value: bytes) -> list[Record]:
    return [Record(value, partition=index) for index in SPREAD]


def test_a_transaction_is_all_or_nothing_on_every_leader(
    broker: Broker, client: Client, copied: str, committed: Consumer
) -> None:
    with client.transactional(broker.bootstrap, transactional_id=copied) as producer:
        for value, end in ((b"no", producer.abort_transaction), (b"yes", producer.commit_transaction)):
            producer.begin()
            producer.send(copied, everywhere(value))
            end()
    assert {(seen.partition, seen.value) for seen in committed.read(len(SPREAD))} == {
        (index, b"yes") for index in SPREAD
    }


def test_offsets_are_committed_by_the_coordinator_of_the_group(broker: Broker, client: Client, copied: str) -> None:
    group, every = unique("group"), {Partition(copied, index): 1 for index in SPREAD}
    with CREATOR.producer(broker.bootstrap) as producer:
        producer.send(copied, everywhere(b"v"))
    with (
        client.transactional(broker.bootstrap, transactional_id=copied) as transactional,
        client.consumer(broker.bootstrap, topics=[copied], group_id=group) as consumer,
        CREATOR.admin(broker.bootstrap) as admin,
    ):
        consumer.read(len(SPREAD))
        transactional.begin()
        transactional.send_offsets(every, consumer)
        transactional.commit_transaction()
        assert eventually(lambda: admin.group_offsets(group), lambda found: len(found) == len(SPREAD)) == every


@pytest.mark.needs("restart")
@pytest.mark.clients(names=("aiokafka", "confluent-kafka"))
@pytest.mark.parametrize("away", range(3))
def test_a_transaction_goes_on_while_a_broker_is_away(
    broker: Broker, client: Client, copied: str, committed: Consumer, away: int
) -> None:
    """One of the three is the coordinator of the transactional id. kafka-python 3.0.12 waits
    without end for a coordinator that has stopped, on Apache Kafka too."""
    server = broker.servers[away]
    with client.transactional(broker.bootstrap, transactional_id=copied, acks="all") as producer:
        producer.begin()
        producer.send(copied, everywhere(b"before"))
        server.stop()
        try:
            producer.send(copied, everywhere(b"meanwhile"))
            producer.commit_transaction()
            found = {(seen.partition, seen.value) for seen in committed.read(2 * len(SPREAD))}
        finally:
            server.start()
    assert found == {(index, value) for index in SPREAD for value in (b"before", b"meanwhile")}
