"""CreatePartitions at every version, and every error that one node can give."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest
from tests.server.harness import Harness, versions

Topic = CreatePartitionsRequest.CreatePartitionsTopic

Result = tuple[str, int, str | None]


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("t", "u", partitions=2)
    return cluster


def to(count: int, *assignments: list[int], name: str = "t", assigned: bool = False) -> Topic:
    given = [CreatePartitionsRequest.CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments]
    return Topic(name=name, count=count, assignments=given if given or assigned else None)


def grow(cluster: Harness, *topics: Topic, version: int = 3, **fields: Any) -> list[Result]:
    response = cluster.submit(CreatePartitionsRequest(topics=list(topics), **{"timeout_ms": 1000} | fields), version)
    return [(result.name, result.error_code, result.error_message) for result in response.results]


@pytest.mark.parametrize("version", versions("CreatePartitions"))
@pytest.mark.parametrize("requested", [to(5), to(5, [1], [1], [1])])
def test_a_topic_grows_at_every_version(cluster: Harness, version: int, requested: Topic) -> None:
    assert grow(cluster, requested, version=version) == [("t", 0, None)]
    assert sorted(cluster.node.partitions.of_topic("t")) == [0, 1, 2, 3, 4]
    topic = cluster.image.topic_named("t")
    assert topic is not None
    assert {(p.replicas, p.isr, p.leader, p.leader_epoch) for p in topic.partitions.values()} == {((1,), (1,), 1, 0)}


def test_validate_only_makes_nothing(cluster: Harness) -> None:
    end = cluster.image.end
    assert grow(cluster, to(3), validate_only=True) == [("t", 0, None)]
    assert cluster.image.end == end


ERRORS: list[tuple[Topic, int, str | None]] = [
    (to(2), error_codes.INVALID_PARTITIONS, "Topic already has 2 partition(s)."),
    (to(1), error_codes.INVALID_PARTITIONS, "The topic t currently has 2 partition(s); 1 would not be an increase."),
    (to(0), error_codes.INVALID_PARTITIONS, "The topic t currently has 2 partition(s); 0 would not be an increase."),
    (to(-1), error_codes.INVALID_PARTITIONS, "The topic t currently has 2 partition(s); -1 would not be an increase."),
    (to(3, name="nope"), error_codes.UNKNOWN_TOPIC_OR_PARTITION, None),
    (to(3, name="a b"), error_codes.UNKNOWN_TOPIC_OR_PARTITION, None),
    (to(3, name="__cluster_metadata"), error_codes.UNKNOWN_TOPIC_OR_PARTITION, None),
    (
        to(4, [1]),
        error_codes.INVALID_REPLICA_ASSIGNMENT,
        "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
    ),
    (
        to(4, assigned=True),
        error_codes.INVALID_REPLICA_ASSIGNMENT,
        "Attempted to add 2 additional partition(s), but only 0 assignment(s) were specified.",
    ),
    (
        to(3, [2]),
        error_codes.INVALID_REPLICA_ASSIGNMENT,
        "The manual partition assignment includes broker 2, but no such broker is registered.",
    ),
    (
        to(3, []),
        error_codes.INVALID_REPLICA_ASSIGNMENT,
        "The manual partition assignment includes an empty replica list.",
    ),
    (
        to(3, [1, 1]),
        error_codes.INVALID_REPLICA_ASSIGNMENT,
        "The manual partition assignment includes the broker 1 more than once.",
    ),
]


@pytest.mark.parametrize(("requested", "code", "message"), ERRORS)
@pytest.mark.parametrize("validate_only", [False, True])
def test_errors(cluster: Harness, requested: Topic, code: int, message: str | None, validate_only: bool) -> None:
    end = cluster.image.end
    assert grow(cluster, requested, validate_only=validate_only) == [(requested.name, code, message)]
    assert cluster.image.end == end


def test_a_duplicate_topic(cluster: Harness) -> None:
    assert grow(cluster, to(3), to(4), to(3, name="u")) == [
        ("t", error_codes.INVALID_REQUEST, "Duplicate topic name."),
        ("u", 0, None),
    ]
    assert sorted(cluster.node.partitions.of_topic("t")) == [0, 1]


@pytest.mark.parametrize("requested", [[to(10_003)], [to(6_000), to(6_000, name="u")]])
def test_too_much_for_one_request(cluster: Harness, requested: list[Topic]) -> None:
    message = "Excessively large number of additional partitions per request."
    results = grow(cluster, *requested, to(5, name="nope"))
    assert {result[1:] for result in results} == {(error_codes.POLICY_VIOLATION, message)}


def test_as_much_as_one_request_may(cluster: Harness) -> None:
    assert grow(cluster, to(10_002), validate_only=True) == [("t", 0, None)]


@pytest.mark.parametrize("timeout_ms", [0, -5])
def test_a_request_that_has_timed_out(cluster: Harness, timeout_ms: int) -> None:
    assert grow(cluster, to(3), timeout_ms=timeout_ms) == [("t", error_codes.REQUEST_TIMED_OUT, None)]
    assert sorted(cluster.node.partitions.of_topic("t")) == [0, 1]


def test_an_empty_request_has_an_empty_answer(cluster: Harness) -> None:
    assert grow(cluster) == []
