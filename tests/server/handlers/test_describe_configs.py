"""DescribeConfigs at every version and for every kind of resource, with the answers of a real Kafka
4.4.0."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from tests.server.harness import Harness, versions

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
VERSIONS = versions("DescribeConfigs")

Resource = DescribeConfigsRequest.DescribeConfigsResource
Result = DescribeConfigsResponse.DescribeConfigsResult


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("t", configs={"cleanup.policy": "compact", "retention.ms": "7"})
    return cluster


def ask(
    cluster: Harness, kind: int, name: str, *keys: str, version: int = 4, all_keys: bool = False, **fields: Any
) -> Result:
    resource = Resource(resource_type=kind, resource_name=name, configuration_keys=None if all_keys else list(keys))
    [result] = cluster.submit(DescribeConfigsRequest(resources=[resource], **fields), version).results
    assert (result.resource_type, result.resource_name) == (kind, name)
    assert isinstance(result, Result)
    return result


def configure(cluster: Harness, kind: int, resource: str, name: str, value: str) -> None:
    record = ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value)
    cluster.node.controller.commit([record])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_at_every_version(cluster: Harness, version: int) -> None:
    fields = {"include_documentation": True} if version >= 3 else {}
    keys = ("min.insync.replicas", "cleanup.policy", "retention.ms", "segment.bytes")
    result = ask(cluster, TOPIC, "t", *keys, version=version, include_synonyms=True, **fields)
    assert (result.error_code, result.error_message) == (0, "")
    found = {config.name: config for config in result.configs}
    assert {name: (config.value, config.config_source) for name, config in found.items()} == {
        "min.insync.replicas": ("1", 3),
        "cleanup.policy": ("compact", 1),
        "retention.ms": ("7", 1),
        "segment.bytes": ("1073741824", 5),
    }
    synonyms = {
        name: [(synonym.name, synonym.value, synonym.source) for synonym in config.synonyms]
        for name, config in found.items()
    }
    assert synonyms == {
        "min.insync.replicas": [("min.insync.replicas", "1", 3), ("min.insync.replicas", "1", 5)],
        "cleanup.policy": [("cleanup.policy", "compact", 1), ("log.cleanup.policy", "delete", 5)],
        "retention.ms": [("retention.ms", "7", 1)],
        "segment.bytes": [("log.segment.bytes", "1073741824", 5)],
    }
    assert not any(config.read_only or config.is_sensitive for config in result.configs)
    if version >= 3:
        types = {name: config.config_type for name, config in found.items()}
        assert types == {"min.insync.replicas": 3, "cleanup.policy": 7, "retention.ms": 5, "segment.bytes": 3}
        assert all(config.documentation for config in result.configs)


def test_synonyms_and_documentation_are_given_on_request(cluster: Harness) -> None:
    [config] = ask(cluster, TOPIC, "t", "cleanup.policy").configs
    assert list(config.synonyms) == []
    assert config.documentation is None


@pytest.mark.parametrize("all_keys", [False, True])
def test_no_keys_mean_all(cluster: Harness, all_keys: bool) -> None:
    result = ask(cluster, TOPIC, "t", all_keys=all_keys)
    assert len(result.configs) == 37
    assert len({config.name for config in result.configs}) == 37


def test_unknown_keys_are_not_answered(cluster: Harness) -> None:
    result = ask(cluster, TOPIC, "t", "nope")
    assert (result.error_code, list(result.configs)) == (0, [])


def test_a_resource_may_stand_twice(cluster: Harness) -> None:
    resources = [
        Resource(resource_type=TOPIC, resource_name="t", configuration_keys=[key])
        for key in ("retention.ms", "segment.ms")
    ]
    results = cluster.submit(DescribeConfigsRequest(resources=resources), 4).results
    assert [[config.name for config in result.configs] for result in results] == [["retention.ms"], ["segment.ms"]]


ERRORS: list[tuple[int, str, int, str]] = [
    (TOPIC, "nope", error_codes.UNKNOWN_TOPIC_OR_PARTITION, ""),
    (TOPIC, "bad name", error_codes.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: 'bad name' contains one or more"),
    (TOPIC, "", error_codes.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: the empty string is not allowed"),
    (BROKER, "2", error_codes.INVALID_REQUEST, "Unexpected broker id, expected 1 or empty string, but received 2"),
    (BROKER, "x", error_codes.INVALID_REQUEST, "Broker id must be an integer, but it is: x"),
    (LOGGER, "", error_codes.INVALID_REQUEST, "Broker id must not be empty"),
    (LOGGER, "2", error_codes.INVALID_REQUEST, "Unexpected broker id, expected 1 but received 2"),
    (LOGGER, "x", error_codes.INVALID_REQUEST, "Broker id must be an integer, but it is: x"),
    (METRICS, "", error_codes.INVALID_REQUEST, "Client metrics subscription name must not be empty"),
    (GROUP, "", error_codes.INVALID_REQUEST, "Group name must not be empty"),
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("kind", "name", "code", "message"), ERRORS)
def test_errors_at_every_version(cluster: Harness, kind: int, name: str, code: int, message: str, version: int) -> None:
    result = ask(cluster, kind, name, version=version)
    assert (result.error_code, list(result.configs)) == (code, [])
    assert result.error_message == message if not message else message in str(result.error_message)


@pytest.mark.parametrize("kind", [0, 1, 3, 99])
def test_an_unknown_kind_fails_the_whole_request(cluster: Harness, kind: int) -> None:
    resources = [
        Resource(resource_type=TOPIC, resource_name="t", configuration_keys=None),
        Resource(resource_type=kind, resource_name="x", configuration_keys=None),
    ]
    results = cluster.submit(DescribeConfigsRequest(resources=resources), 4).results
    assert [(result.resource_type, result.resource_name, result.error_code) for result in results] == [
        (TOPIC, "t", error_codes.INVALID_REQUEST),
        (kind, "x", error_codes.INVALID_REQUEST),
    ]
    assert all(result.error_message for result in results)


def test_a_broker(cluster: Harness) -> None:
    configure(cluster, BROKER, "1", "log.retention.ms", "77")
    found = {config.name: config for config in ask(cluster, BROKER, "1").configs}
    configs = {name: (config.value, config.config_source, config.read_only) for name, config in found.items()}
    assert configs["node.id"] == ("1", 4, True)
    assert configs["log.retention.ms"] == ("77", 2, False)
    assert configs["min.insync.replicas"] == ("1", 3, False)
    assert configs["num.partitions"] == ("1", 5, True)
    assert len(found) > 300


def test_all_brokers(cluster: Harness) -> None:
    configure(cluster, BROKER, "", "log.retention.ms", "78")
    found = {config.name: (config.value, config.config_source) for config in ask(cluster, BROKER, "").configs}
    assert found == {"min.insync.replicas": ("1", 3), "log.retention.ms": ("78", 3)}


def test_topic_config_is_inherited_from_the_broker(cluster: Harness) -> None:
    configure(cluster, BROKER, "", "log.segment.bytes", "2000000")
    configure(cluster, BROKER, "1", "log.segment.bytes", "3000000")
    [config] = ask(cluster, TOPIC, "t", "segment.bytes", include_synonyms=True).configs
    assert (config.value, config.config_source) == ("3000000", 2)
    assert [(synonym.value, synonym.source) for synonym in config.synonyms] == [
        ("3000000", 2),
        ("2000000", 3),
        ("1073741824", 5),
    ]


def test_loggers(cluster: Harness) -> None:
    logging.getLogger("kafkadouble.server")
    found = {config.name: config for config in ask(cluster, LOGGER, "1").configs}
    assert {"root", "kafkadouble.server"} <= set(found)
    assert {(config.config_source, config.read_only, config.config_type) for config in found.values()} == {
        (6, False, 0)
    }
    [root] = ask(cluster, LOGGER, "1", "root").configs
    assert root.value in {"DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN"}


def test_a_client_metrics_subscription(cluster: Harness) -> None:
    configure(cluster, METRICS, "sub", "interval.ms", "100")
    found = {config.name: (config.value, config.config_source) for config in ask(cluster, METRICS, "sub").configs}
    assert found == {"interval.ms": ("100", 7), "match": ("", 5), "metrics": ("", 5)}


def test_a_group(cluster: Harness) -> None:
    configure(cluster, GROUP, "g", "consumer.session.timeout.ms", "50000")
    found = {config.name: (config.value, config.config_source) for config in ask(cluster, GROUP, "g").configs}
    assert found["consumer.session.timeout.ms"] == ("50000", 8)
    assert found["consumer.heartbeat.interval.ms"] == ("5000", 5)
    assert len(found) == 21


def test_an_empty_request_has_an_empty_answer(cluster: Harness) -> None:
    assert list(cluster.submit(DescribeConfigsRequest(resources=[]), 4).results) == []
