"""The partitions that a node leads follow the image: they come, go, and obey."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.server.metadata.image import BROKER, TOPIC
from kafkadouble.server.replica.replication.partition import Partition
from kafkadouble.server.requests.waiting import Until, Wait
from tests.server.harness import Harness


class Seen:
    """A listener that records the changes that it gets."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str, int]] = []

    def on_election(self, partition: Partition) -> None:
        self.changes.append(("led", partition.topic, partition.index))

    def on_resignation(self, partition: Partition) -> None:
        self.changes.append(("lost", partition.topic, partition.index))


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("t", partitions=2)
    return cluster


def delete(cluster: Harness, name: str) -> None:
    state = DeleteTopicsRequest.DeleteTopicState(name=name)
    cluster.submit(DeleteTopicsRequest(topics=[state], timeout_ms=1000), 6)


def config(cluster: Harness, kind: int, resource: str, name: str, value: str | None) -> None:
    record = ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value)
    cluster.node.controller.commit([record])


def test_replica_manager_finds_partitions(cluster: Harness) -> None:
    partitions = cluster.node.partitions
    found = partitions.get("t", 1)
    assert found is not None
    assert (found.topic, found.index, found.leader_id, found.leader_epoch) == ("t", 1, 1, 0)
    assert found.topic_id == cluster.image.topic_ids["t"]
    assert partitions.get("t", 2) is None
    assert partitions.get("u", 0) is None
    assert sorted(partitions.of_topic("t")) == [0, 1]
    assert partitions.of_topic("u") == {}
    assert {(partition.topic, partition.index) for partition in partitions} == {("t", 0), ("t", 1)}


def test_listeners_are_notified_in_order(cluster: Harness) -> None:
    seen = Seen()
    cluster.node.partitions.listeners.append(seen)
    cluster.create("u", partitions=12)
    assert seen.changes == [("led", "u", index) for index in range(12)]
    seen.changes.clear()
    more = CreatePartitionsRequest.CreatePartitionsTopic(name="t", count=4, assignments=None)
    cluster.submit(CreatePartitionsRequest(topics=[more], timeout_ms=1000), 3)
    assert seen.changes == [("led", "t", 2), ("led", "t", 3)]
    seen.changes.clear()
    delete(cluster, "t")
    assert sorted(seen.changes) == [("lost", "t", index) for index in range(4)]


def test_new_partitions_leave_existing_ones_alone(cluster: Harness) -> None:
    before = cluster.partition("t", 0)
    more = CreatePartitionsRequest.CreatePartitionsTopic(name="t", count=4, assignments=None)
    cluster.submit(CreatePartitionsRequest(topics=[more], timeout_ms=1000), 3)
    assert cluster.partition("t", 0) is before


def test_a_fetch_that_waits_for_a_topic_is_woken_by_its_deletion(cluster: Harness) -> None:
    woken: list[bool] = []

    def waiter() -> Wait[None]:
        woken.append((yield Until(None, [cluster.partition("t").waiters], lacking=1000)))

    cluster.node.waiting.start(waiter(), lambda result: None, lambda failure: None)
    cluster.create("other")
    assert woken == []
    delete(cluster, "t")
    assert woken == [True]


def test_a_topic_of_the_same_name_is_another_one(cluster: Harness) -> None:
    before = cluster.partition("t")
    delete(cluster, "t")
    assert cluster.node.partitions.get("t", 0) is None
    cluster.create("t")
    assert cluster.partition("t") is not before
    assert cluster.partition("t").topic_id != before.topic_id
    assert cluster.node.partitions.get("t", 1) is None


def leader_change(cluster: Harness, leader: int) -> None:
    topic_id = cluster.image.topic_ids["t"]
    cluster.node.controller.commit([PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=leader)])


def test_a_new_epoch_of_the_same_leader(cluster: Harness) -> None:
    partition = cluster.partition("t")
    seen = Seen()
    cluster.node.partitions.listeners.append(seen)
    leader_change(cluster, 1)
    assert cluster.partition("t") is partition
    assert partition.leader_epoch == 1
    assert partition.log.epochs.latest == 1
    assert seen.changes == []


def test_leadership_that_is_lost_and_comes_back(cluster: Harness) -> None:
    seen = Seen()
    cluster.node.partitions.listeners.append(seen)
    leader_change(cluster, -1)
    assert cluster.node.partitions.get("t", 0) is None
    assert cluster.node.partitions.get("t", 1) is not None
    leader_change(cluster, 1)
    assert cluster.partition("t").leader_epoch == 2
    assert seen.changes == [("lost", "t", 0), ("led", "t", 0)]


SETTINGS: list[tuple[str, Callable[[Harness], None], int]] = [
    ("the default", lambda cluster: None, 604_800_000),
    ("all brokers", lambda cluster: config(cluster, BROKER, "", "log.retention.ms", "11"), 11),
    ("this broker", lambda cluster: config(cluster, BROKER, "1", "log.retention.ms", "12"), 12),
    ("another broker", lambda cluster: config(cluster, BROKER, "2", "log.retention.ms", "13"), 12),
    ("the topic", lambda cluster: config(cluster, TOPIC, "t", "retention.ms", "14"), 14),
    ("this broker, below the topic", lambda cluster: config(cluster, BROKER, "1", "log.retention.ms", "15"), 14),
    ("the topic no more", lambda cluster: config(cluster, TOPIC, "t", "retention.ms", None), 15),
    ("this broker no more", lambda cluster: config(cluster, BROKER, "1", "log.retention.ms", None), 11),
    ("all brokers no more", lambda cluster: config(cluster, BROKER, "", "log.retention.ms", None), 604_800_000),
]


def test_configurations_take_effect_at_once(cluster: Harness) -> None:
    for message, change, expected in SETTINGS:
        change(cluster)
        mses = {partition.log.config.retention_ms for partition in cluster.node.partitions.of_topic("t").values()}
        assert mses == {expected}, message
        cluster.create(f"made.after.{message.replace(' ', '-').replace(',', '')}")


def test_the_configuration_of_one_topic_is_not_that_of_another(cluster: Harness) -> None:
    cluster.create("u", configs={"retention.ms": "5"})
    config(cluster, TOPIC, "t", "retention.ms", "6")
    assert cluster.partition("t").log.config.retention_ms == 6
    assert cluster.partition("u").log.config.retention_ms == 5


def test_topics_without_configurations_share_theirs(cluster: Harness) -> None:
    cluster.create("u")
    assert cluster.partition("t").log.config is cluster.partition("u").log.config


def test_static_settings_of_the_broker_count() -> None:
    cluster = Harness({"log.retention.hours": 2, "message.max.bytes": 1000})
    cluster.create("t")
    assert cluster.partition("t").log.config.retention_ms == 7_200_000
    assert cluster.partition("t").log.config.max_message_bytes == 1000


def test_dynamic_settings_of_the_broker_are_settings_of_the_node(cluster: Harness) -> None:
    assert cluster.node.settings["log.retention.ms"] is None
    config(cluster, BROKER, "", "log.retention.ms", "11")
    assert cluster.node.settings.int("log.retention.ms") == 11
    config(cluster, BROKER, "1", "log.retention.ms", "12")
    assert cluster.node.settings.int("log.retention.ms") == 12
