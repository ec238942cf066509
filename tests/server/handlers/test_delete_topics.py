"""DeleteTopics at every version, by name and by id, and every error that one node can give."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.image import TOPIC
from tests.server.harness import Harness, versions

State = DeleteTopicsRequest.DeleteTopicState
VERSIONS = versions("DeleteTopics")
NOWHERE = Uuid(b"n" * 16)

Result = tuple[str | None, Uuid, int]


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("a", "b", "c", configs={"retention.ms": "1"})
    return cluster


def delete(cluster: Harness, states: Iterable[State], timeout_ms: int = 1000) -> list[Result]:
    response = cluster.submit(DeleteTopicsRequest(topics=list(states), timeout_ms=timeout_ms), 6)
    return [(result.name, result.topic_id, result.error_code) for result in response.responses]


def by_name(name: str) -> State:
    return State(name=name)


def by_id(topic_id: Uuid) -> State:
    return State(name=None, topic_id=topic_id)


@pytest.mark.parametrize("version", VERSIONS)
def test_by_name_at_every_version(cluster: Harness, version: int) -> None:
    names = ["a", "nope", "b"]
    topic_id = cluster.image.topic_ids["a"]
    request = (
        DeleteTopicsRequest(topics=[by_name(name) for name in names], timeout_ms=1000)
        if version >= 6
        else DeleteTopicsRequest(topic_names=names, timeout_ms=1000)
    )
    response = cluster.submit(request, version)
    results = {result.name: result for result in response.responses}
    assert {name: result.error_code for name, result in results.items()} == {"a": 0, "b": 0, "nope": 3}
    assert results["a"].topic_id == (topic_id if version >= 6 else Uuid.ZERO)
    assert results["a"].error_message is None
    assert (results["nope"].error_message is not None) == (version >= 5)
    assert set(cluster.image.topic_ids) == {"c"}
    assert cluster.node.partitions.get("a", 0) is None
    assert dict(cluster.image.config_overrides(TOPIC, "a")) == {}


def test_by_id(cluster: Harness) -> None:
    topic_id = cluster.image.topic_ids["a"]
    assert delete(cluster, [by_id(topic_id)]) == [("a", topic_id, 0)]
    assert set(cluster.image.topic_ids) == {"b", "c"}
    assert delete(cluster, [by_id(topic_id)]) == [(None, topic_id, error_codes.UNKNOWN_TOPIC_ID)]


ZERO = Uuid.ZERO
ERRORS: list[tuple[list[State], list[Result], str]] = [
    ([by_name("nope")], [("nope", ZERO, error_codes.UNKNOWN_TOPIC_OR_PARTITION)], ""),
    ([by_name("a b")], [("a b", ZERO, error_codes.UNKNOWN_TOPIC_OR_PARTITION)], ""),
    ([by_name("__cluster_metadata")], [("__cluster_metadata", ZERO, error_codes.UNKNOWN_TOPIC_OR_PARTITION)], ""),
    ([by_id(NOWHERE)], [(None, NOWHERE, error_codes.UNKNOWN_TOPIC_ID)], ""),
    (
        [by_id(Uuid.METADATA_TOPIC_ID)],
        [(None, Uuid.METADATA_TOPIC_ID, error_codes.UNKNOWN_TOPIC_ID)],
        "",
    ),
    ([by_id(ZERO)], [(None, ZERO, error_codes.INVALID_REQUEST)], "Neither topic name nor id were specified."),
    (
        [State(name="a", topic_id=NOWHERE)],
        [("a", NOWHERE, error_codes.INVALID_REQUEST)],
        "You may not specify both topic name and topic id.",
    ),
    ([by_name("a"), by_name("a")], [("a", ZERO, error_codes.INVALID_REQUEST)], "Duplicate topic name."),
    ([by_name("a")] * 3, [("a", ZERO, error_codes.INVALID_REQUEST)], "Duplicate topic name."),
    ([by_id(NOWHERE)] * 2, [(None, NOWHERE, error_codes.INVALID_REQUEST)], "Duplicate topic id."),
]


@pytest.mark.parametrize(("states", "expected", "message"), ERRORS)
def test_errors(cluster: Harness, states: list[State], expected: list[Result], message: str) -> None:
    response = cluster.submit(DeleteTopicsRequest(topics=states, timeout_ms=1000), 6)
    assert [(result.name, result.topic_id, result.error_code) for result in response.responses] == expected
    assert message in response.responses[0].error_message
    assert set(cluster.image.topic_ids) == {"a", "b", "c"}


def test_a_name_and_an_id_that_mean_the_same_topic(cluster: Harness) -> None:
    topic_id = cluster.image.topic_ids["a"]
    results = delete(cluster, [by_name("a"), by_id(topic_id), by_name("b")])
    assert sorted(results) == [("a", topic_id, error_codes.INVALID_REQUEST), ("b", cluster_id(results, "b"), 0)]
    assert set(cluster.image.topic_ids) == {"a", "c"}


def cluster_id(results: list[Result], name: str) -> Uuid:
    return next(topic_id for found, topic_id, _ in results if found == name)


def test_a_duplicate_id_and_its_name(cluster: Harness) -> None:
    topic_id = cluster.image.topic_ids["a"]
    results = delete(cluster, [by_id(topic_id), by_id(topic_id), by_name("a")])
    assert set(results) == {
        (None, topic_id, error_codes.INVALID_REQUEST),
        ("a", topic_id, error_codes.INVALID_REQUEST),
    }
    assert "a" in cluster.image.topic_ids


def test_a_good_topic_does_not_suffer_from_a_bad_one(cluster: Harness) -> None:
    codes = {name: code for name, _, code in delete(cluster, [by_name("nope"), by_name("a")])}
    assert codes == {"nope": 3, "a": 0}


@pytest.mark.parametrize("version", VERSIONS)
def test_deletion_that_is_switched_off(version: int) -> None:
    cluster = Harness({"delete.topic.enable": False})
    cluster.create("a")
    request = (
        DeleteTopicsRequest(topics=[by_name("a")], timeout_ms=1000)
        if version >= 6
        else DeleteTopicsRequest(topic_names=["a"], timeout_ms=1000)
    )
    [result] = cluster.submit(request, version).responses
    expected = error_codes.TOPIC_DELETION_DISABLED if version >= 3 else error_codes.INVALID_REQUEST
    assert (result.name, result.error_code) == ("a", expected)
    assert "a" in cluster.image.topic_ids


def test_a_request_that_has_timed_out(cluster: Harness) -> None:
    results = delete(cluster, [by_name("a"), by_id(NOWHERE)], timeout_ms=0)
    assert results == [
        ("a", ZERO, error_codes.REQUEST_TIMED_OUT),
        (None, NOWHERE, error_codes.REQUEST_TIMED_OUT),
    ]
    assert "a" in cluster.image.topic_ids


def test_topics_of_coordinators_may_be_deleted(cluster: Harness) -> None:
    cluster.node.controller.create_internal_topic("__consumer_offsets")
    [(_, _, code)] = delete(cluster, [by_name("__consumer_offsets")])
    assert code == 0
    assert cluster.image.topic_named("__consumer_offsets") is None


def test_an_empty_request_has_an_empty_answer(cluster: Harness) -> None:
    assert delete(cluster, []) == []
