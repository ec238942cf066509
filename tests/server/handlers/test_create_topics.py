"""CreateTopics at every version, and every error that one node can give. Codes and texts are those
of a real Kafka 4.4.0."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.topic import TOPIC as CONFIGS
from kafkadouble.server.metadata.image import TOPIC
from tests.server.harness import Harness, versions

Topic = CreateTopicsRequest.CreatableTopic
VERSIONS = versions("CreateTopics")


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("there", "dots.and_underscores")
    return cluster


def topic(name: str = "t", partitions: int = 1, factor: int = 1, **fields: Any) -> Topic:
    return Topic(name=name, num_partitions=partitions, replication_factor=factor, **fields)


def assigned(*replicas: tuple[int, list[int]], name: str = "t", partitions: int = -1, factor: int = -1) -> Topic:
    assignments = [
        CreateTopicsRequest.CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
        for index, brokers in replicas
    ]
    return topic(name, partitions, factor, assignments=assignments)


def configured(*configs: tuple[str, str | None], name: str = "t") -> Topic:
    given = [CreateTopicsRequest.CreatableTopicConfig(name=config, value=value) for config, value in configs]
    return topic(name, configs=given)


def create(
    cluster: Harness, *topics: Topic, version: int = 7, **fields: Any
) -> dict[str, CreateTopicsResponse.CreatableTopicResult]:
    response = cluster.submit(CreateTopicsRequest(topics=list(topics), **{"timeout_ms": 1000} | fields), version)
    return {result.name: result for result in response.topics}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_at_every_version(cluster: Harness, version: int) -> None:
    result = create(cluster, topic(partitions=3), version=version)["t"]
    made = cluster.image.topic_named("t")
    assert made is not None
    assert (result.error_code, result.error_message) == (0, None)
    assert len(made.partitions) == 3
    assert sorted(cluster.node.partitions.of_topic("t")) == [0, 1, 2]
    if version >= 5:
        assert (result.num_partitions, result.replication_factor, result.topic_config_error_code) == (3, 1, 0)
        assert result.configs
    assert result.topic_id == (made.id if version >= 7 else Uuid.ZERO)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_at_every_version(cluster: Harness, version: int) -> None:
    result = create(cluster, topic("there"), version=version)["there"]
    assert (result.error_code, result.error_message) == (
        error_codes.TOPIC_ALREADY_EXISTS,
        "Topic 'there' already exists.",
    )
    assert result.configs is not None, "Java's client cannot read null"
    assert (result.num_partitions, result.replication_factor) == (-1, -1)


def test_the_configurations_that_are_answered(cluster: Harness) -> None:
    requested = configured(("retention.ms", "7"), ("cleanup.policy", "compact"))
    result = create(cluster, requested)["t"]
    names = [config.name for config in result.configs or ()]
    assert names == sorted(config.name for config in CONFIGS if not config.internal)
    configs = {config.name: (config.value, config.config_source) for config in result.configs or ()}
    assert {name: source for name, (_, source) in configs.items() if source != 5} == {
        "retention.ms": 1,
        "cleanup.policy": 1,
        "min.insync.replicas": 3,
    }
    assert configs["retention.ms"] == ("7", 1)
    assert configs["segment.ms"] == ("604800000", 5)
    assert not any(config.read_only or config.is_sensitive for config in result.configs or ())
    assert dict(cluster.image.config_overrides(TOPIC, "t")) == {"retention.ms": "7", "cleanup.policy": "compact"}
    assert cluster.partition("t").log.config.compacts


def test_of_a_duplicate_configuration_the_last_counts(cluster: Harness) -> None:
    create(cluster, configured(("retention.ms", "1"), ("retention.ms", "2")))
    assert dict(cluster.image.config_overrides(TOPIC, "t")) == {"retention.ms": "2"}


def test_defaults_of_the_broker() -> None:
    cluster = Harness({"num.partitions": 4})
    result = create(cluster, topic(partitions=-1, factor=-1))["t"]
    assert (result.num_partitions, result.replication_factor) == (4, 1)


def test_validate_only_makes_nothing(cluster: Harness) -> None:
    end = cluster.image.end
    results = create(cluster, topic(), topic("there"), validate_only=True)
    assert {name: result.error_code for name, result in results.items()} == {"t": 0, "there": 36}
    assert results["t"].num_partitions == 1
    assert cluster.image.end == end
    assert cluster.node.partitions.get("t", 0) is None


def test_good_topics_do_not_suffer_from_bad_ones(cluster: Harness) -> None:
    results = create(cluster, topic("a"), topic("there"), topic("b", 0), topic("c"))
    assert {name: result.error_code for name, result in results.items()} == {"a": 0, "there": 36, "b": 37, "c": 0}
    assert {"a", "c"} <= set(cluster.image.topic_ids)


def test_a_duplicate_topic_is_answered_once_and_not_created(cluster: Harness) -> None:
    response = cluster.submit(
        CreateTopicsRequest(topics=[topic("a"), topic("b"), topic("a", 2), topic("a")], timeout_ms=1000), 7
    )
    assert {(result.name, result.error_code, result.error_message) for result in response.topics} == {
        ("a", error_codes.INVALID_REQUEST, "Duplicate topic name."),
        ("b", 0, None),
    }
    assert len(response.topics) == 2
    assert cluster.image.topic_named("a") is None


def test_lookalikes_of_one_request_are_all_made_as_in_kafka(cluster: Harness) -> None:
    results = create(cluster, topic("x.y"), topic("x_y"))
    assert [result.error_code for result in results.values()] == [0, 0]
    assert create(cluster, topic("x_y"))["x_y"].error_code == error_codes.TOPIC_ALREADY_EXISTS


def test_an_empty_request_has_an_empty_answer(cluster: Harness) -> None:
    assert create(cluster) == {}


ONE = (0, [1])
ERRORS: list[tuple[Topic, int, str]] = [
    (topic(""), error_codes.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: the empty string is not allowed"),
    (topic("."), error_codes.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: '.' is not allowed"),
    (topic("a b"), error_codes.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: 'a b' contains one or more"),
    (
        topic("dots_and_underscores"),
        error_codes.INVALID_TOPIC_EXCEPTION,
        "Topic 'dots_and_underscores' collides with existing topic: dots.and_underscores",
    ),
    (
        topic("__cluster_metadata"),
        error_codes.INVALID_REQUEST,
        "Creation of internal topic __cluster_metadata is prohibited.",
    ),
    (topic("there"), error_codes.TOPIC_ALREADY_EXISTS, "Topic 'there' already exists."),
    (topic("there", 0), error_codes.TOPIC_ALREADY_EXISTS, "Topic 'there' already exists."),
    (
        topic(partitions=0),
        error_codes.INVALID_PARTITIONS,
        "Number of partitions was set to an invalid non-positive value.",
    ),
    (topic(partitions=-2), error_codes.INVALID_PARTITIONS, "Number of partitions was set to an invalid"),
    (topic(factor=0), error_codes.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0, or -1"),
    (topic(factor=-2), error_codes.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0, or -1"),
    (topic(partitions=0, factor=0), error_codes.INVALID_REPLICATION_FACTOR, "Replication factor must be larger"),
    (
        topic(factor=2),
        error_codes.INVALID_REPLICATION_FACTOR,
        "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be reached because "
        "only 1 broker(s) are registered or some brokers have all their log directories cordoned.",
    ),
    (
        assigned(ONE, partitions=1),
        error_codes.INVALID_REQUEST,
        "A manual partition assignment was specified, but numPartitions was not set to -1.",
    ),
    (
        assigned(ONE, factor=1),
        error_codes.INVALID_REQUEST,
        "A manual partition assignment was specified, but replication factor was not set to -1.",
    ),
    (
        assigned(ONE, ONE),
        error_codes.INVALID_REPLICA_ASSIGNMENT,
        "Found multiple manual partition assignments for partition 0",
    ),
    (
        assigned(ONE, (2, [1])),
        error_codes.INVALID_REPLICA_ASSIGNMENT,
        "partitions should be a consecutive 0-based integer sequence",
    ),
    (assigned((0, [])), error_codes.INVALID_REPLICA_ASSIGNMENT, "includes an empty replica list."),
    (assigned((0, [1, 1])), error_codes.INVALID_REPLICA_ASSIGNMENT, "includes the broker 1 more than once."),
    (
        assigned((0, [2])),
        error_codes.INVALID_REPLICA_ASSIGNMENT,
        "The manual partition assignment includes broker 2, but no such broker is registered.",
    ),
    (
        configured(("retention.ms", "abc")),
        error_codes.INVALID_CONFIG,
        "Invalid value abc for configuration retention.ms: Not a number of type LONG",
    ),
    (configured(("nope", "1")), error_codes.INVALID_CONFIG, "Unknown topic config name: nope"),
    (
        configured(("retention.ms", None), ("segment.ms", "1"), ("nope", None)),
        error_codes.INVALID_CONFIG,
        "Null value not supported for topic configs: retention.ms,nope",
    ),
    (
        configured(("min.compaction.lag.ms", "5"), ("max.compaction.lag.ms", "2")),
        error_codes.INVALID_CONFIG,
        "conflict topic config setting min.compaction.lag.ms (5) > max.compaction.lag.ms (2)",
    ),
]


@pytest.mark.parametrize(("requested", "code", "message"), ERRORS)
@pytest.mark.parametrize("validate_only", [False, True])
def test_invalid_topic_is_not_created(
    cluster: Harness, requested: Topic, code: int, message: str, validate_only: bool
) -> None:
    end = cluster.image.end
    result = create(cluster, requested, validate_only=validate_only)[requested.name]
    assert result.error_code == code
    assert message in str(result.error_message)
    assert cluster.image.end == end


def test_topic_is_created_with_assignments(cluster: Harness) -> None:
    result = create(cluster, assigned((1, [1]), ONE))["t"]
    assert (result.error_code, result.num_partitions, result.replication_factor) == (0, 2, 1)
    assert sorted(cluster.node.partitions.of_topic("t")) == [0, 1]


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_create_topics_without_time_is_timed_out(cluster: Harness, timeout_ms: int) -> None:
    results = create(cluster, topic("a"), topic("there"), timeout_ms=timeout_ms)
    assert {name: (result.error_code, result.error_message) for name, result in results.items()} == {
        "a": (error_codes.REQUEST_TIMED_OUT, None),
        "there": (error_codes.REQUEST_TIMED_OUT, None),
    }
    assert cluster.image.topic_named("a") is None


TOO_MUCH = [
    ([topic("a", 10_001)], "Excessively large number of partitions per request."),
    ([topic("a", 6_000), topic("b", 6_000)], "Excessively large number of partitions per request."),
    ([topic("a", 9_999)], "Unable to perform excessively large batch operation."),
]


@pytest.mark.parametrize(("requested", "message"), TOO_MUCH)
def test_create_topics_of_too_many_partitions_is_refused(
    cluster: Harness, requested: list[Topic], message: str
) -> None:
    results = create(cluster, *requested, topic("small"))
    assert {result.error_code for result in results.values()} == {error_codes.POLICY_VIOLATION}
    assert {result.error_message for result in results.values()} == {message}
    assert cluster.image.topic_named("small") is None


def test_create_topics_accepts_the_most_partitions(cluster: Harness) -> None:
    assert create(cluster, topic("a", 9_999), validate_only=True)["a"].error_code == 0
