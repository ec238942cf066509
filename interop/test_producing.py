"""Producers of several client libraries: acknowledgements, size limits, idempotence, and topics
that the first write creates."""

from __future__ import annotations

import pytest

from interop.brokers import Broker
from interop.clients import CLIENTS, CREATOR, Client
from interop.clients.shape import Partition, Record
from interop.relay import relay
from interop.support import create_topic, refused
from kafkadouble.messages.api_keys import ApiKeys
from tests.support.waiting import eventually

MEGABYTE = 1_000_000
BIG = {"max_request_size": 4 * MEGABYTE, "enable_idempotence": False}
"""Without idempotence, because kafka-python's idempotent producer cannot be used after a
refusal."""


@pytest.mark.parametrize("acks", [1, "all"])
def test_acknowledged_records_have_rising_offsets(broker: Broker, client: Client, topic: str, acks: int | str) -> None:
    options = {"acks": acks, "enable_idempotence": False}
    with client.producer(broker.bootstrap, **options) as producer:
        assert producer.send(topic, [Record(b"%d" % n) for n in range(50)]) == list(range(50))
        assert producer.send(topic, [Record(b"more")]) == [50]


def test_records_without_acknowledgement_arrive(broker: Broker, client: Client, topic: str) -> None:
    options = {"acks": 0, "enable_idempotence": False}
    with client.producer(broker.bootstrap, **options) as producer:
        producer.send(topic, [Record(b"%d" % n) for n in range(10)])
        with client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
            assert [seen.value for seen in consumer.read(10)] == [b"%d" % n for n in range(10)]


def test_produce_creates_an_unknown_topic(broker: Broker, client: Client, name: str) -> None:
    with client.producer(broker.bootstrap) as producer:
        assert producer.send(name, [Record(b"first", partition=None)]) == [0]
    with client.admin(broker.bootstrap) as admin:
        assert name in admin.topics()


# Without kafka-python, which does not request such a name, and without aiokafka, which requests it
# for ever.
@pytest.mark.clients(names=("confluent-kafka",))
def test_produce_to_invalid_topic_name_creates_no_topic(broker: Broker, client: Client) -> None:
    with client.producer(broker.bootstrap) as producer, refused("INVALID_TOPIC_EXCEPTION"):
        producer.send("no/slash", [Record(b"v")])
    with client.admin(broker.bootstrap) as admin:
        assert "no/slash" not in admin.topics()


def test_an_idempotent_producer_writes_each_record_once_and_in_order(
    broker: Broker, client: Client, topic: str
) -> None:
    with client.producer(broker.bootstrap, enable_idempotence=True) as producer:
        for start in range(0, 300, 100):
            offsets = producer.send(topic, [Record(b"%d" % n) for n in range(start, start + 100)])
            assert offsets == list(range(start, start + 100))


@pytest.mark.needs("loopback")
def test_idempotent_producer_appends_once_after_a_lost_response(broker: Broker, client: Client, topic: str) -> None:
    with relay(broker.bootstrap) as between, client.producer(between.bootstrap, enable_idempotence=True) as producer:
        producer.send(topic, [Record(b"0")])
        for n in range(1, 4):
            between.swallow(ApiKeys.PRODUCE)
            assert producer.send(topic, [Record(b"%d" % n)]) == [n]
        assert between.cuts == 3
    with client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
        assert [seen.value for seen in consumer.read(4)] == [b"0", b"1", b"2", b"3"]
        assert consumer.bounds(Partition(topic, 0)) == (0, 4)


@pytest.mark.needs("loopback")
# Without kafka-python, which does not retry without idempotence.
@pytest.mark.clients(names=("aiokafka", "confluent-kafka"))
def test_producer_without_idempotence_duplicates_after_a_lost_response(
    broker: Broker, client: Client, topic: str
) -> None:
    with relay(broker.bootstrap) as between, client.producer(between.bootstrap, enable_idempotence=False) as producer:
        producer.send(topic, [Record(b"0")])
        between.swallow(ApiKeys.PRODUCE)
        assert producer.send(topic, [Record(b"1")]) == [2]
    with client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
        assert [seen.value for seen in consumer.read(3)] == [b"0", b"1", b"1"]


def test_producer_continues_after_a_too_large_record(broker: Broker, client: Client, topic: str) -> None:
    with client.producer(broker.bootstrap, **BIG) as producer:
        with refused("MESSAGE_TOO_LARGE"):
            producer.send(topic, [Record(b"x" * 2 * MEGABYTE)])
        assert producer.send(topic, [Record(b"x" * MEGABYTE)]) == [0]


@pytest.mark.parametrize("megabytes", [3, 20])
def test_topic_with_higher_limit_stores_large_records(
    broker: Broker, client: Client, name: str, megabytes: int
) -> None:
    value = bytes(range(250)) * 4000 * megabytes
    create_topic(broker.bootstrap, name, configs={"max.message.bytes": str(25 * MEGABYTE)})
    with client.producer(broker.bootstrap, max_request_size=25 * MEGABYTE) as producer:
        producer.send(name, [Record(b"before"), Record(value), Record(b"after")])
    for reader in CLIENTS:
        with reader.consumer(broker.bootstrap, partitions=[Partition(name, 0)]) as consumer:
            assert [seen.value for seen in consumer.read(3)] == [b"before", value, b"after"], reader.name


def test_raised_limit_of_an_existing_topic_takes_effect(broker: Broker, client: Client, topic: str) -> None:
    with client.producer(broker.bootstrap, **BIG) as producer:
        with refused("MESSAGE_TOO_LARGE"):
            producer.send(topic, [Record(b"x" * 2 * MEGABYTE)])
        with CREATOR.admin(broker.bootstrap) as admin:
            change = ("set", "max.message.bytes", str(3 * MEGABYTE))
            admin.alter_configs("topic", topic, change)
            eventually(lambda: admin.configs("topic", topic)[change[1]], lambda found: found == change[2])
        assert producer.send(topic, [Record(b"x" * 2 * MEGABYTE)]) == [0]


def test_single_broker_accepts_records_despite_min_insync_replicas(broker: Broker, client: Client, name: str) -> None:
    create_topic(broker.bootstrap, name, configs={"min.insync.replicas": "2"})
    with client.producer(broker.bootstrap, acks="all") as producer:
        assert producer.send(name, [Record(b"v")]) == [0]


def test_two_producers_write_to_one_partition_at_once(broker: Broker, client: Client, topic: str) -> None:
    options = {"enable_idempotence": True}
    with (
        client.producer(broker.bootstrap, **options) as first,
        client.producer(broker.bootstrap, **options) as second,
    ):
        offsets: list[int] = []
        for n in range(10):
            for producer in (first, second):
                offsets += producer.send(topic, [Record(b"%d" % n)])
        assert offsets == list(range(20))
