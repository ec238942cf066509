"""Admin clients of several libraries: topics, partitions and the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from interop.brokers import Broker
from interop.clients import Client
from interop.clients.shape import Partition, Record
from interop.support import refused
from tests.support.waiting import eventually

NEVER = 9999
"""A broker id that no cluster has."""


def test_a_created_topic_is_listed_with_its_partitions(broker: Broker, client: Client, name: str) -> None:
    with client.admin(broker.bootstrap) as admin:
        admin.create_topic(name, 3)
        eventually(admin.topics, lambda found: name in found)
        assert sorted(admin.partitions_of(name)) == [0, 1, 2]


@pytest.mark.clients(names=("kafka-python", "confluent-kafka"))
def test_create_topic_uses_the_broker_defaults_for_minus_one(broker: Broker, client: Client, name: str) -> None:
    with client.admin(broker.bootstrap) as admin:
        admin.create_topic(name, -1, replication=-1)
        eventually(admin.topics, lambda found: name in found)
        assert len(admin.partitions_of(name)) >= 1


def test_a_topic_is_created_once(broker: Broker, client: Client, topic: str) -> None:
    with client.admin(broker.bootstrap) as admin, refused("TOPIC_ALREADY_EXISTS"):
        admin.create_topic(topic)


REFUSED_TOPICS: dict[str, tuple[str, dict[str, Any], str]] = {
    "slash in the name": ("no/slash", {}, "INVALID_TOPIC_EXCEPTION"),
    "name too long": ("x" * 250, {}, "INVALID_TOPIC_EXCEPTION"),
    "name of dots": ("..", {}, "INVALID_TOPIC_EXCEPTION"),
    "more replicas than brokers": ("r", {"replication": NEVER}, "INVALID_REPLICATION_FACTOR"),
    "value that a config cannot have": ("c", {"configs": {"cleanup.policy": "burn"}}, "INVALID_CONFIG"),
    "number that is none": ("c", {"configs": {"retention.ms": "soon"}}, "INVALID_CONFIG"),
    "config that is not known": ("c", {"configs": {"no.such.thing": "1"}}, "INVALID_CONFIG"),
}


@pytest.mark.parametrize("case", REFUSED_TOPICS)
def test_create_topic_with_invalid_argument_is_refused(broker: Broker, client: Client, name: str, case: str) -> None:
    topic, more, error = REFUSED_TOPICS[case]
    with client.admin(broker.bootstrap) as admin:
        with refused(error):
            admin.create_topic(topic if len(topic) > 1 and error == "INVALID_TOPIC_EXCEPTION" else name, 1, **more)
        assert name not in admin.topics()


@pytest.mark.clients(names=("kafka-python", "aiokafka"))
def test_a_topic_of_no_partitions_is_refused(broker: Broker, client: Client, name: str) -> None:
    with client.admin(broker.bootstrap) as admin, refused("INVALID_PARTITIONS"):
        admin.create_topic(name, 0)


def test_a_deleted_topic_is_removed_and_can_be_created_again_and_is_empty(
    broker: Broker, client: Client, topic: str
) -> None:
    with client.producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(b"old")])
    with client.admin(broker.bootstrap) as admin:
        admin.delete_topic(topic)
        eventually(admin.topics, lambda found: topic not in found)
        admin.create_topic(topic, 1)
        eventually(admin.topics, lambda found: topic in found)
    with client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
        assert consumer.bounds(Partition(topic, 0)) == (0, 0)


def test_deletion_of_unknown_topic_is_refused(broker: Broker, client: Client, name: str) -> None:
    with client.admin(broker.bootstrap) as admin, refused("UNKNOWN_TOPIC_OR_PARTITION"):
        admin.delete_topic(name)


def test_partitions_can_be_added_and_not_removed(broker: Broker, client: Client, topic: str) -> None:
    with client.admin(broker.bootstrap) as admin:
        admin.create_partitions(topic, 4)
        eventually(lambda: sorted(admin.partitions_of(topic)), lambda found: found == [0, 1, 2, 3])
        for total in (4, 2):
            with refused("INVALID_PARTITIONS"):
                admin.create_partitions(topic, total)
        assert len(admin.partitions_of(topic)) == 4


def test_adding_partitions_to_unknown_topic_is_refused(broker: Broker, client: Client, name: str) -> None:
    with client.admin(broker.bootstrap) as admin, refused("UNKNOWN_TOPIC_OR_PARTITION"):
        admin.create_partitions(name, 4)


def test_the_cluster_has_an_id_a_controller_and_addresses_of_its_brokers(broker: Broker, client: Client) -> None:
    with client.admin(broker.bootstrap) as admin:
        cluster_id, controller, brokers = admin.cluster()
    assert len(cluster_id) == 22
    assert controller >= 0
    assert broker.bootstrap in brokers or not broker.bootstrap.startswith("127.0.0.1")


def test_all_clients_see_the_same_cluster(broker: Broker) -> None:
    from interop.clients import CLIENTS

    def cluster_of(client: Client) -> str:
        with client.admin(broker.bootstrap) as admin:
            return str(admin.cluster()[0])

    assert len({cluster_of(client) for client in CLIENTS}) == 1


@pytest.fixture
def ten(broker: Broker, client: Client, lasting: str) -> Partition:
    """A partition with ten records, with the timestamps 1000, 2000 and so on, except that the sixth
    has the latest timestamp."""
    with client.producer(broker.bootstrap) as producer:
        times = [1000, 2000, 3000, 4000, 5000, 99_000, 7000, 8000, 9000, 10_000]
        producer.send(lasting, [Record(b"%d" % time, timestamp=time) for time in times])
    return Partition(lasting, 0)


def test_deleted_records_are_removed_from_the_start(broker: Broker, client: Client, ten: Partition) -> None:
    with client.admin(broker.bootstrap) as admin:
        assert admin.delete_records(ten, 4) == 4
    with client.consumer(broker.bootstrap, partitions=[ten]) as consumer:
        assert consumer.bounds(ten) == (4, 10)
        assert [seen.offset for seen in consumer.read(6)] == [4, 5, 6, 7, 8, 9]


def test_records_beyond_the_end_cannot_be_deleted(broker: Broker, client: Client, ten: Partition) -> None:
    with client.admin(broker.bootstrap) as admin, refused("OFFSET_OUT_OF_RANGE"):
        admin.delete_records(ten, 11)


@pytest.mark.clients(can="admin.delete_records")
def test_all_records_are_deleted_by_minus_one(broker: Broker, client: Client, ten: Partition) -> None:
    with client.admin(broker.bootstrap) as admin:
        assert admin.delete_records(ten, -1) == 10


@pytest.mark.clients(can="admin.offset_of")
@pytest.mark.parametrize(
    ("which", "expected"), [("earliest", (0, -1)), ("latest", (10, -1)), ("max_timestamp", (5, 99_000))]
)
def test_the_admin_lists_offsets(
    broker: Broker, client: Client, ten: Partition, which: str, expected: tuple[int, int]
) -> None:
    with client.admin(broker.bootstrap) as admin:
        assert admin.offset_of(ten, which) == expected


@pytest.mark.clients(can="admin.offset_of")
def test_an_empty_partition_has_no_latest_time(broker: Broker, client: Client, topic: str) -> None:
    with client.admin(broker.bootstrap) as admin:
        assert admin.offset_of(Partition(topic, 0), "max_timestamp") == (-1, -1)


def test_internal_topic_is_listed_and_cannot_be_created(broker: Broker, client: Client, topic: str) -> None:
    with client.consumer(broker.bootstrap, [topic], group_id=topic) as consumer:
        consumer.joined()
    with client.admin(broker.bootstrap) as admin:
        assert "__consumer_offsets" in admin.topics()
        with refused("INVALID_TOPIC_EXCEPTION", "TOPIC_ALREADY_EXISTS"):
            admin.create_topic("__consumer_offsets")
