"""What users rely on in a cluster of three brokers: partitions have replicas and leaders on every
broker, and clients continue while a broker is down."""

from __future__ import annotations

import pytest

from interop.brokers import Broker
from interop.clients import Client
from interop.clients.shape import Partition, Record
from interop.support import SPREAD, refused

pytestmark = [pytest.mark.needs("three_brokers"), pytest.mark.usefixtures("collected", "every_broker_lists_all")]


def test_client_finds_three_brokers(broker: Broker, client: Client) -> None:
    with client.admin(broker.bootstrap) as admin:
        assert sorted(admin.cluster()[2]) == sorted(broker.bootstrap.split(","))


def test_more_copies_than_brokers_are_refused(broker: Broker, client: Client, name: str) -> None:
    with client.admin(broker.bootstrap) as admin, refused("INVALID_REPLICATION_FACTOR"):
        admin.create_topic(name, 1, replication=4)


def test_a_client_that_knows_one_broker_writes_to_and_reads_from_all(
    broker: Broker, client: Client, copied: str
) -> None:
    one = broker.bootstrap.split(",")[-1]
    with client.producer(one, acks="all") as producer:
        producer.send(copied, [Record(b"v", partition=index) for index in SPREAD])
    with client.consumer(one, partitions=[Partition(copied, index) for index in SPREAD]) as consumer:
        assert sorted(seen.partition for seen in consumer.read(len(SPREAD))) == [*SPREAD]


@pytest.mark.needs("restart")
def test_clients_go_on_while_a_broker_is_away(broker: Broker, client: Client, copied: str) -> None:
    every = [Partition(copied, index) for index in SPREAD]
    with (
        client.producer(broker.bootstrap, acks="all") as producer,
        client.consumer(broker.bootstrap, partitions=every) as consumer,
    ):
        producer.send(copied, [Record(b"before", partition=index) for index in SPREAD])
        assert sorted(seen.partition for seen in consumer.read(len(SPREAD))) == [*SPREAD]
        away = broker.servers[0]
        away.stop()
        try:
            producer.send(copied, [Record(b"meanwhile", partition=index) for index in SPREAD])
            assert sorted(seen.partition for seen in consumer.read(len(SPREAD))) == [*SPREAD]
        finally:
            away.start()
