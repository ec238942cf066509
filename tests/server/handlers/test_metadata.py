"""Metadata at every version: all topics, none, by name, by id, created by the request. Compared
with a real Kafka 4.4.0."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.uuid import Uuid
from tests.server.harness import Harness, versions

RequestedTopic = MetadataRequest.MetadataRequestTopic
VERSIONS = versions("Metadata")
NOT_ASKED = -2147483648
NOWHERE = Uuid(b"n" * 16)


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness({"broker.rack": "r1"}, advertised=("example.org", 1234))
    cluster.create("b", "a", partitions=2)
    return cluster


def ask(cluster: Harness, *names: str | RequestedTopic, version: int = 12, **fields: Any) -> MetadataResponse:
    topics = [name if isinstance(name, RequestedTopic) else RequestedTopic(name=name) for name in names]
    given: dict[str, Any] = {"topics": topics, "allow_auto_topic_creation": version < 4} | fields
    response = cluster.submit(MetadataRequest(**given), version)
    assert isinstance(response, MetadataResponse)
    return response


def codes(response: MetadataResponse) -> dict[str | None, int]:
    return {topic.name: topic.error_code for topic in response.topics}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_at_every_version(cluster: Harness, version: int) -> None:
    [topic] = ask(cluster, "a", version=version).topics
    assert (topic.name, topic.error_code, topic.is_internal) == ("a", 0, False)
    assert topic.topic_id == (cluster.image.topic_ids["a"] if version >= 10 else Uuid.ZERO)
    assert [partition.partition_index for partition in topic.partitions] == [0, 1]
    for partition in topic.partitions:
        assert (partition.error_code, partition.leader_id) == (0, 1)
        assert (list(partition.replica_nodes), list(partition.isr_nodes)) == ([1], [1])
        assert partition.leader_epoch == (0 if version >= 7 else -1)
        assert list(partition.offline_replicas) == []
    assert topic.topic_authorized_operations == NOT_ASKED


@pytest.mark.parametrize("version", VERSIONS)
def test_brokers_and_cluster_at_every_version(cluster: Harness, version: int) -> None:
    response = ask(cluster, "a", version=version)
    [broker] = response.brokers
    assert (broker.node_id, broker.host, broker.port) == (1, "example.org", 1234)
    assert broker.rack == ("r1" if version >= 1 else None)
    assert response.controller_id == (1 if version >= 1 else -1)
    assert response.cluster_id == (str(cluster.node.cluster_id) if version >= 2 else None)
    assert response.cluster_authorized_operations == NOT_ASKED
    assert (response.throttle_time_ms, response.error_code) == (0, 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_all_and_none_at_every_version(cluster: Harness, version: int) -> None:
    assert set(codes(ask(cluster, version=version))) == ({"a", "b"} if version == 0 else set())
    if version >= 1:
        assert codes(ask(cluster, version=version, topics=None)) == {"a": 0, "b": 0}


@pytest.mark.parametrize("version", VERSIONS)
def test_errors_at_every_version(cluster: Harness, version: int) -> None:
    response = ask(cluster, "nope", "bad name", "a", "", version=version)
    assert codes(response) == {
        "nope": error_codes.UNKNOWN_TOPIC_OR_PARTITION,
        "bad name": error_codes.INVALID_TOPIC_EXCEPTION,
        "a": 0,
        "": error_codes.INVALID_TOPIC_EXCEPTION,
    }
    unknown = next(topic for topic in response.topics if topic.name == "nope")
    assert (list(unknown.partitions), unknown.topic_id) == ([], Uuid.ZERO)


def test_metadata_of_missing_topics_is_an_error(cluster: Harness) -> None:
    assert "__cluster_metadata" not in codes(ask(cluster, topics=None))
    assert codes(ask(cluster, "__cluster_metadata")) == {"__cluster_metadata": error_codes.UNKNOWN_TOPIC_OR_PARTITION}


def test_a_duplicate_name_is_answered_once(cluster: Harness) -> None:
    assert [topic.name for topic in ask(cluster, "a", "a", "nope", "nope").topics] == ["a", "nope"]


def test_internal_topics_say_so(cluster: Harness) -> None:
    [unknown] = ask(cluster, "__consumer_offsets").topics
    assert (unknown.error_code, unknown.is_internal) == (3, True)
    cluster.node.controller.create_internal_topic("__consumer_offsets")
    [known] = ask(cluster, "__consumer_offsets").topics
    assert (known.error_code, known.is_internal, len(known.partitions)) == (0, True, 50)


def test_partitions_are_in_order(cluster: Harness) -> None:
    cluster.create("many", partitions=40)
    [topic] = ask(cluster, "many").topics
    assert [partition.partition_index for partition in topic.partitions] == list(range(40))


@pytest.mark.parametrize("version", VERSIONS)
def test_creation_on_the_way(cluster: Harness, version: int) -> None:
    """Kafka 4 answers that the topic is unknown, and knows it at the next request; before version 4
    a client cannot forbid the creation."""
    first = ask(cluster, "new", version=version, allow_auto_topic_creation=True)
    assert codes(first) == {"new": error_codes.UNKNOWN_TOPIC_OR_PARTITION}
    assert codes(ask(cluster, "new", version=version)) == {"new": 0}
    assert len(cluster.node.partitions.of_topic("new")) == 1


@pytest.mark.parametrize("version", [4, 13])
def test_creation_that_the_client_does_not_want(cluster: Harness, version: int) -> None:
    for _ in range(2):
        assert codes(ask(cluster, "new", version=version, allow_auto_topic_creation=False)) == {"new": 3}


def test_creation_that_the_broker_does_not_want() -> None:
    cluster = Harness({"auto.create.topics.enable": False})
    for _ in range(2):
        assert codes(ask(cluster, "new", allow_auto_topic_creation=True)) == {"new": 3}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("bad name", error_codes.INVALID_TOPIC_EXCEPTION),
        ("", error_codes.INVALID_TOPIC_EXCEPTION),
        ("x" * 250, error_codes.INVALID_TOPIC_EXCEPTION),
        ("__cluster_metadata", error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        ("look_alike", error_codes.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_metadata_never_creates_these_topics(cluster: Harness, name: str, code: int) -> None:
    cluster.create("look.alike")
    end = cluster.image.end
    for _ in range(2):
        assert codes(ask(cluster, name, allow_auto_topic_creation=True)) == {name: code}
    assert cluster.image.end == end


def test_a_name_that_cannot_be_does_not_keep_others_from_being_created(cluster: Harness) -> None:
    ask(cluster, "new", "bad name", "look/alike", allow_auto_topic_creation=True)
    assert codes(ask(cluster, "new")) == {"new": 0}


def test_all_topics_creates_nothing(cluster: Harness) -> None:
    end = cluster.image.end
    ask(cluster, topics=None, allow_auto_topic_creation=True)
    assert cluster.image.end == end


def test_too_many_to_be_created_are_not(cluster: Harness) -> None:
    names = [f"n{number}" for number in range(10_001)]
    assert set(codes(ask(cluster, *names, allow_auto_topic_creation=True)).values()) == {3}
    assert cluster.image.topic_named("n0") is None


def test_created_with_the_defaults_of_the_broker() -> None:
    cluster = Harness({"num.partitions": 3})
    ask(cluster, "new", "__consumer_offsets", allow_auto_topic_creation=True)
    assert len(cluster.node.partitions.of_topic("new")) == 3
    assert len(cluster.node.partitions.of_topic("__consumer_offsets")) == 50
    assert cluster.partition("__consumer_offsets").log.config.compacts


@pytest.mark.parametrize("version", [12, 13])
def test_by_id(cluster: Harness, version: int) -> None:
    topic_id = cluster.image.topic_ids["a"]
    requested = [
        RequestedTopic(name=None, topic_id=topic_id),
        RequestedTopic(name=None, topic_id=NOWHERE),
        RequestedTopic(name=None, topic_id=topic_id),
    ]
    unknown, known = ask(cluster, *requested, version=version).topics
    assert (known.name, known.topic_id, known.error_code, len(known.partitions)) == ("a", topic_id, 0, 2)
    assert (unknown.name, unknown.topic_id, unknown.error_code) == (None, NOWHERE, error_codes.UNKNOWN_TOPIC_ID)


def test_metadata_by_topic_id_ignores_names(cluster: Harness) -> None:
    topic_id = cluster.image.topic_ids["a"]
    response = ask(cluster, "b", RequestedTopic(name="b", topic_id=topic_id), "new", allow_auto_topic_creation=True)
    assert [topic.name for topic in response.topics] == ["a"]
    assert cluster.image.topic_named("new") is None


def test_a_deleted_topic_is_unknown_by_id_and_by_name(cluster: Harness) -> None:
    topic_id = cluster.image.topic_ids["a"]
    state = DeleteTopicsRequest.DeleteTopicState(name="a")
    cluster.submit(DeleteTopicsRequest(topics=[state], timeout_ms=1000), 6)
    assert codes(ask(cluster, "a")) == {"a": 3}
    assert codes(ask(cluster, RequestedTopic(name=None, topic_id=topic_id))) == {None: error_codes.UNKNOWN_TOPIC_ID}
    assert codes(ask(cluster, topics=None)) == {"b": 0}


REFUSED = [
    (10, RequestedTopic(name=None, topic_id=NOWHERE), error_codes.INVALID_REQUEST),
    (11, RequestedTopic(name=None, topic_id=NOWHERE), error_codes.INVALID_REQUEST),
    (10, RequestedTopic(name="a", topic_id=NOWHERE), error_codes.INVALID_REQUEST),
    (10, RequestedTopic(name=None), error_codes.INVALID_REQUEST),
    (12, RequestedTopic(name=None), error_codes.UNKNOWN_SERVER_ERROR),
    (13, RequestedTopic(name=None), error_codes.UNKNOWN_SERVER_ERROR),
]


@pytest.mark.parametrize(("version", "requested", "code"), REFUSED)
def test_requests_that_fail_as_a_whole(cluster: Harness, version: int, requested: RequestedTopic, code: int) -> None:
    response = ask(cluster, "a", requested, version=version)
    assert [(topic.name, topic.topic_id, topic.error_code) for topic in response.topics] == [
        ("a", Uuid.ZERO, code),
        (requested.name or "", requested.topic_id, code),
    ]
    assert list(response.brokers) == []
    assert (response.cluster_id, response.controller_id) == (None, -1)
    assert response.error_code == (code if version >= 13 else 0)


@pytest.mark.parametrize("version", range(8, 14))
def test_operations_on_topics(cluster: Harness, version: int) -> None:
    response = ask(cluster, "a", "nope", version=version, include_topic_authorized_operations=True)
    assert [topic.topic_authorized_operations for topic in response.topics] == [3576, 3576]


def test_operations_on_a_topic_that_is_unknown_by_id(cluster: Harness) -> None:
    requested = RequestedTopic(name=None, topic_id=NOWHERE)
    [topic] = ask(cluster, requested, include_topic_authorized_operations=True).topics
    assert topic.topic_authorized_operations == NOT_ASKED


@pytest.mark.parametrize("version", range(8, 11))
def test_operations_on_the_cluster(cluster: Harness, version: int) -> None:
    response = ask(cluster, version=version, include_cluster_authorized_operations=True)
    assert response.cluster_authorized_operations == 8096
