"""How clients behave when a broker returns errors, is slow, or closes connections. A test injects
the fault into the double, and every client recovers or reports what is wrong.

The double runs in this process, so that a test can arm faults and read the requests.
"""

from __future__ import annotations

import time

import pytest

from interop.clients import Client
from interop.clients.shape import Partition, Record
from interop.support import refused
from kafkadouble import KafkaDouble
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.needs("faults")

ME = "under-test"
"""The client id that the faults apply to."""


SHORT_SESSION = {"session_timeout_ms": 2000}
"""A member that gets UNKNOWN_MEMBER_ID joins again as a new member. The coordinator, which still
has the old member, waits until that member's session has ended."""


T = Partition("t", 0)


PRODUCE_ERRORS_THAT_PASS = [
    "NOT_LEADER_OR_FOLLOWER",
    "LEADER_NOT_AVAILABLE",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "REQUEST_TIMED_OUT",
    "NOT_ENOUGH_REPLICAS",
    "KAFKA_STORAGE_ERROR",
]


@pytest.mark.parametrize("error", PRODUCE_ERRORS_THAT_PASS)
def test_a_producer_tries_again_after_an_error_that_passes(double: KafkaDouble, client: Client, error: str) -> None:
    with client.producer(double.bootstrap_servers) as producer:
        producer.send("t", [Record(b"0")])
        with double.fail("Produce", error, times=2, topic="t") as rule:
            assert producer.send("t", [Record(b"1")]) == [1]
        assert rule.hits == 2
    assert [record.value for record in double.records("t")] == [b"0", b"1"]


@pytest.mark.parametrize("error", ["MESSAGE_TOO_LARGE", "INVALID_REQUIRED_ACKS", "POLICY_VIOLATION"])
def test_a_producer_reports_a_permanent_error_and_goes_on(double: KafkaDouble, client: Client, error: str) -> None:
    with client.producer(double.bootstrap_servers, enable_idempotence=False) as producer:
        with double.fail("Produce", error, times=None, topic="t"), refused(error):
            producer.send("t", [Record(b"lost")])
        assert producer.send("t", [Record(b"kept")]) == [0]


def test_an_idempotent_producer_starts_though_its_coordinator_is_not_ready(double: KafkaDouble, client: Client) -> None:
    with (
        double.fail("InitProducerId", "COORDINATOR_LOAD_IN_PROGRESS", times=2) as rule,
        client.producer(double.bootstrap_servers, enable_idempotence=True) as producer,
    ):
        assert producer.send("t", [Record(b"0")]) == [0]
        assert rule.hits == 2


FETCH_ERRORS_THAT_PASS = [
    "NOT_LEADER_OR_FOLLOWER",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "FENCED_LEADER_EPOCH",
    "UNKNOWN_LEADER_EPOCH",
    "KAFKA_STORAGE_ERROR",
    "OFFSET_NOT_AVAILABLE",
]


@pytest.mark.parametrize("error", FETCH_ERRORS_THAT_PASS)
def test_a_consumer_comes_through_an_error_that_passes(double: KafkaDouble, client: Client, error: str) -> None:
    for n in range(3):
        double.produce("t", str(n))
    with (
        double.fail("Fetch", error, times=2, topic="t") as rule,
        client.consumer(double.bootstrap_servers, partitions=[T]) as consumer,
    ):
        assert [seen.value for seen in consumer.read(3)] == [b"0", b"1", b"2"]
        assert rule.hits == 2


def test_an_offset_that_is_called_out_of_range_is_reset(double: KafkaDouble, client: Client) -> None:
    for n in range(3):
        double.produce("t", str(n))
    with client.consumer(double.bootstrap_servers, partitions=[T]) as consumer:
        consumer.read(3)
        with double.fail("Fetch", "OFFSET_OUT_OF_RANGE", topic="t"):
            assert [seen.offset for seen in consumer.read(3)] == [0, 1, 2]


def test_a_slow_fetch_holds_records_back_and_loses_none(double: KafkaDouble, client: Client) -> None:
    double.produce("t", "0")
    begun = time.monotonic()
    with (
        double.delay("Fetch", 1.0),
        client.consumer(double.bootstrap_servers, partitions=[T]) as consumer,
    ):
        assert consumer.read(1)[0].value == b"0"
        assert time.monotonic() - begun > 0.9


@pytest.mark.parametrize("after", [False, True], ids=["unread", "read"])
def test_a_fetch_that_is_hung_up_on_loses_nothing_and_repeats_nothing(
    double: KafkaDouble, client: Client, after: bool
) -> None:
    for n in range(5):
        double.produce("t", str(n))
    with (
        double.disconnect("Fetch", after=after, times=2) as rule,
        client.consumer(double.bootstrap_servers, partitions=[T]) as consumer,
    ):
        assert [seen.offset for seen in consumer.read(5)] == [0, 1, 2, 3, 4]
        assert rule.hits == 2


GROUP_ERRORS_THAT_PASS = [
    ("FindCoordinator", "COORDINATOR_NOT_AVAILABLE"),
    ("JoinGroup", "COORDINATOR_LOAD_IN_PROGRESS"),
    ("JoinGroup", "NOT_COORDINATOR"),
    ("JoinGroup", "UNKNOWN_MEMBER_ID"),
    ("SyncGroup", "NOT_COORDINATOR"),
    ("SyncGroup", "REBALANCE_IN_PROGRESS"),
    ("SyncGroup", "UNKNOWN_MEMBER_ID"),
    ("OffsetFetch", "COORDINATOR_LOAD_IN_PROGRESS"),
    ("OffsetFetch", "NOT_COORDINATOR"),
    ("ListOffsets", "NOT_LEADER_OR_FOLLOWER"),
    ("Metadata", "LEADER_NOT_AVAILABLE"),
]


REPORTED_TO_THE_APPLICATION = {("confluent-kafka", "OffsetFetch", "NOT_COORDINATOR")}
"""Errors that librdkafka reports by `poll`, although it also retries."""

REFETCHES_METADATA = {"confluent-kafka": {"topic_metadata_refresh_interval_ms": 300}}
"""librdkafka asks again for a subscribed topic only with its regular metadata refresh, every five
minutes by default."""


@pytest.mark.parametrize(("api", "error"), GROUP_ERRORS_THAT_PASS)
def test_a_member_joins_through_an_error_that_passes(double: KafkaDouble, client: Client, api: str, error: str) -> None:
    if (client.name, api, error) in REPORTED_TO_THE_APPLICATION:
        pytest.skip(f"{client.name} reports {error} of {api} to the application")
    double.produce("t", "0")
    options = {"group_id": "g", "client_id": ME, **SHORT_SESSION, **REFETCHES_METADATA.get(client.name, {})}
    with (
        double.fail(api, error, client_id=ME) as rule,
        client.consumer(double.bootstrap_servers, ["t"], **options) as consumer,
    ):
        assert consumer.read(1)[0].value == b"0"
        assert rule.hits == 1


@pytest.mark.parametrize(
    "error", ["REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "NOT_COORDINATOR"]
)
def test_a_heartbeat_that_is_refused_makes_the_member_join_again_and_go_on(
    double: KafkaDouble, client: Client, error: str
) -> None:
    options = {"group_id": "g", "client_id": ME, **SHORT_SESSION}
    with client.consumer(double.bootstrap_servers, ["t"], **options) as consumer:
        consumer.joined()
        double.produce("t", "0")
        consumer.read(1)
        consumer.commit()
        with double.fail("Heartbeat", error) as rule:
            deadline = time.monotonic() + PATIENCE
            while not rule.spent:
                assert time.monotonic() < deadline, "no heartbeat came"
                assert consumer.poll(0.2) == []
        double.produce("t", "1")
        assert consumer.read(1)[0].value == b"1"
    api_name = "FindCoordinator" if error == "NOT_COORDINATOR" else "JoinGroup"
    assert len(double.requests.of(api_name, client_id=ME)) >= 2


@pytest.mark.parametrize("error", ["COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"])
def test_a_commit_is_tried_again_after_an_error_that_passes(double: KafkaDouble, client: Client, error: str) -> None:
    with client.consumer(double.bootstrap_servers, partitions=[T], group_id="g") as consumer:
        with double.fail("OffsetCommit", error, times=2) as rule:
            consumer.commit({T: (7, "")})
        assert rule.hits == 2
        assert consumer.committed(T) == (7, "")


@pytest.mark.parametrize("error", ["GROUP_AUTHORIZATION_FAILED", "TOPIC_AUTHORIZATION_FAILED"])
def test_a_forbidden_commit_is_reported(double: KafkaDouble, client: Client, error: str) -> None:
    with (
        client.consumer(double.bootstrap_servers, partitions=[T], group_id="g") as consumer,
        double.fail("OffsetCommit", error),
        refused(error),
    ):
        consumer.commit({T: (7, "")})


def test_a_join_is_repeated_when_the_coordinator_disconnects(double: KafkaDouble, client: Client) -> None:
    double.produce("t", "0")
    with (
        double.disconnect("JoinGroup", client_id=ME) as rule,
        client.consumer(double.bootstrap_servers, ["t"], group_id="g", client_id=ME) as consumer,
    ):
        assert consumer.read(1)[0].value == b"0"
        assert rule.hits == 1


@pytest.mark.parametrize("error", ["TOPIC_ALREADY_EXISTS", "POLICY_VIOLATION", "CLUSTER_AUTHORIZATION_FAILED"])
def test_admin_client_reports_a_refused_topic(double: KafkaDouble, client: Client, error: str) -> None:
    with client.admin(double.bootstrap_servers) as admin:
        with double.fail("CreateTopics", error), refused(error):
            admin.create_topic("made")
        admin.create_topic("made")
        assert "made" in admin.topics()


def test_a_fault_for_one_client_leaves_the_others_alone(double: KafkaDouble, client: Client) -> None:
    options = {"enable_idempotence": False}
    with (
        client.producer(double.bootstrap_servers, client_id=ME, **options) as mine,
        client.producer(double.bootstrap_servers, client_id="other", **options) as other,
        double.fail("Produce", "TOPIC_AUTHORIZATION_FAILED", times=None, client_id=ME),
    ):
        with refused("TOPIC_AUTHORIZATION_FAILED"):
            mine.send("t", [Record(b"mine")])
        assert other.send("t", [Record(b"other")]) == [0]


def test_a_fault_for_one_topic_leaves_the_others_alone(double: KafkaDouble, client: Client) -> None:
    double.create_topic("u")
    with (
        client.producer(double.bootstrap_servers, enable_idempotence=False) as producer,
        double.fail("Produce", "TOPIC_AUTHORIZATION_FAILED", times=None, topic="t"),
    ):
        with refused("TOPIC_AUTHORIZATION_FAILED"):
            producer.send("t", [Record(b"0")])
        assert producer.send("u", [Record(b"0")]) == [0]
