"""Every client negotiates the versions of the broker, and clients that are configured for an older
broker are understood."""

from __future__ import annotations

from typing import Any

import pytest

from interop.brokers import Broker
from interop.clients import CLIENTS, CREATOR, Client
from interop.clients.shape import Partition, Record
from tests.support.waiting import eventually

KAFKA_PYTHON, AIOKAFKA, CONFLUENT = CLIENTS

OLD: list[tuple[Client, dict[str, Any]]] = [
    *((KAFKA_PYTHON, {"api_version": one}) for one in ((2, 1), (2, 4), (2, 8), (3, 3), (3, 9), (4, 0))),
    (CONFLUENT, {"api_version_request": "true", "broker_version_fallback": "2.1.0"}),
    (CONFLUENT, {"client_rack": "r", "enable_metrics_push": False}),
]


def _id(case: tuple[Client, dict[str, Any]]) -> str:
    return "-".join([case[0].name, *(f"{key}={value}" for key, value in case[1].items())]).replace(" ", "")


@pytest.mark.parametrize("case", OLD, ids=_id)
def test_a_client_set_to_an_older_broker_does_all_the_usual(
    broker: Broker, name: str, case: tuple[Client, dict[str, Any]]
) -> None:
    client, options = case
    with client.admin(broker.bootstrap, **options) as admin:
        admin.create_topic(name, 2, {"retention.ms": "-1"})  # the record is of 1970
        eventually(admin.topics, lambda found: name in found)
    with client.producer(broker.bootstrap, **options) as producer:
        assert producer.send(name, [Record(b"v", b"k", [("h", b"1")], 5000, 1)]) == [0]
    with client.consumer(broker.bootstrap, [name], group_id=name, **options) as consumer:
        (seen,) = consumer.read(1)
        assert (seen.key, seen.value, seen.headers, seen.timestamp) == (b"k", b"v", [("h", b"1")], 5000)
        consumer.commit()
        at = Partition(name, 1)
        assert consumer.committed(at) == (1, "")
        assert consumer.offset_at(at, 4000) == 0
        assert consumer.bounds(at) == (0, 1)


@pytest.mark.needs("kafka_4")
def test_kafka_python_takes_the_broker_for_a_kafka_of_today(broker: Broker) -> None:
    with KAFKA_PYTHON.admin(broker.bootstrap) as shaped:
        admin = shaped.itself
        assert admin._manager.broker_version >= (4, 0)
        features = admin.describe_features()
    assert features["metadata.version"]["finalized"][1] >= 7
    assert {"metadata.version", "kraft.version"} <= set(features)


BROKER_APIS = {
    "Produce": 0, "Fetch": 1, "ListOffsets": 2, "Metadata": 3, "OffsetCommit": 8, "OffsetFetch": 9, "FindCoordinator": 10,
    "JoinGroup": 11, "Heartbeat": 12, "LeaveGroup": 13, "SyncGroup": 14, "DescribeGroups": 15, "ListGroups": 16,
    "ApiVersions": 18, "CreateTopics": 19, "DeleteTopics": 20, "DeleteRecords": 21, "InitProducerId": 22,
    "OffsetForLeaderEpoch": 23, "DescribeConfigs": 32, "AlterConfigs": 33, "CreatePartitions": 37, "DeleteGroups": 42,
    "IncrementalAlterConfigs": 44, "OffsetDelete": 47, "DescribeCluster": 60, "DescribeTopicPartitions": 75,
}  # fmt: skip
"""The APIs that the clients of this suite use, and the oldest clients of KIP-896 too."""


def test_api_versions_that_the_clients_need_are_announced(broker: Broker) -> None:
    with KAFKA_PYTHON.admin(broker.bootstrap) as admin:
        announced = admin.itself._manager.broker_version_data.api_versions
    assert {name: key for name, key in BROKER_APIS.items() if key not in announced} == {}


def test_a_client_of_every_library_may_be_the_first_that_connects(broker: Broker, client: Client) -> None:
    with client.consumer(broker.bootstrap, partitions=[]) as consumer:
        assert consumer.assignment() == set()
    with CREATOR.admin(broker.bootstrap) as admin:
        assert admin.cluster()[2]
