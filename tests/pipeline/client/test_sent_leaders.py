"""A client that gets leaders from another client, and partitions that are newer than the client's
metadata."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import Client, NoSuchPartition, TopicPartition, TopicRecreated
from kafkadouble.pipeline.client.names import BrokerEndpoint
from tests.pipeline.wire.making import add_partitions
from tests.support.pipeline_client import batch, client_of, read

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
VALUES = [b"%d" % number for number in range(10)]


pytestmark = pytest.mark.usefixtures("ten")


@pytest.fixture
def driver(double: KafkaDouble) -> Iterator[Client]:
    with client_of(double.bootstrap_servers) as client:
        yield client


@pytest.fixture
def worker(double: KafkaDouble) -> Iterator[Client]:
    with client_of(double.bootstrap_servers) as client:
        yield client


def test_no_metadata_is_requested(double: KafkaDouble, driver: Client, worker: Client) -> None:
    leader = pickle.loads(pickle.dumps(driver.leaders([T0])[T0]))
    asked = len(double.requests.of("Metadata"))
    assert read(worker, T0, 0, 10, leader=leader) == VALUES
    assert len(double.requests.of("Metadata")) == asked
    assert worker.partitions("t") == [0]


def test_a_partition_that_is_newer_than_the_metadata_is_read(
    double: KafkaDouble, driver: Client, worker: Client
) -> None:
    assert worker.partitions("t") == [0]
    add_partitions(double, "t", 2)
    double.produce("t", b"new", partition=1)
    assert read(worker, T1, 0, 1) == [b"new"]
    assert read(worker, T1, 0, 1, leader=driver.leaders([T1])[T1]) == [b"new"]


def test_a_partition_that_is_newer_than_the_metadata_is_written(double: KafkaDouble, worker: Client) -> None:
    assert worker.partitions("t") == [0]
    add_partitions(double, "t", 2)
    assert worker.producer().send({T1: [batch(b"new")]}) == {T1: 0}


@pytest.mark.parametrize("dead", [False, True])
def test_a_leader_that_is_outdated_is_left_for_the_present_one(
    double: KafkaDouble, driver: Client, worker: Client, dead: bool
) -> None:
    """Either the broker fences the epoch, or no broker listens at the address any more."""
    leader = driver.leaders([T0])[T0]
    double.bump_epoch("t", 0)
    assert (
        read(worker, T0, 0, 10, leader=leader._replace(endpoint=BrokerEndpoint("127.0.0.1", 1)) if dead else leader)
        == VALUES
    )
    assert worker.leaders([T0])[T0].epoch == 1


def test_an_older_epoch_never_replaces_a_newer_one(double: KafkaDouble, driver: Client, worker: Client) -> None:
    old = driver.leaders([T0])[T0]
    double.bump_epoch("t", 0)
    assert worker.leaders([T0])[T0].epoch == 1
    assert read(worker, T0, 0, 10, leader=old) == VALUES
    assert worker.leaders([T0])[T0].epoch == 1
    assert {each.body.topics[0].partitions[0].current_leader_epoch for each in double.requests.of("Fetch")} == {1}


def test_a_topic_with_another_id_is_not_read(double: KafkaDouble, driver: Client, worker: Client) -> None:
    old = driver.leaders([T0])[T0]
    double.delete_topic("t")
    double.create_topic("t")
    double.produce("t", b"other")
    with pytest.raises(TopicRecreated, match="'t' was deleted and recreated while t-0 was read at offset 0"):
        read(worker, T0, 0, 1, leader=old)
    driver.forget(["t"])
    assert read(worker, T0, 0, 1, leader=driver.leaders([T0])[T0]) == [b"other"]


def test_a_partition_without_a_leader_is_only_its_topic(driver: Client, worker: Client) -> None:
    leader = driver.leaders([T0])[T0]._replace(node=-1, endpoint=None)
    assert read(worker, T0, 0, 10, leader=leader) == VALUES


def test_partitions_that_are_not_there_are_left_out(driver: Client) -> None:
    missing = TopicPartition("nowhere", 0)
    assert list(driver.leaders([T0, T1, missing])) == [T0]
    with pytest.raises(NoSuchPartition) as caught:
        read(driver, T1, 0, 1)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == "t-1: the topic has 1 partitions, counted from 0"
    assert [again.concerns(each) for each in (T0, T1, missing)] == [False, True, False]
