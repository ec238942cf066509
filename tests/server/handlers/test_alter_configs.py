"""AlterConfigs at every version: what is not given goes. Errors are those of a real Kafka 4.4.0."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_configs import AlterConfigsRequest
from kafkadouble.server.metadata.metadata_log import decode_batches
from tests.server.harness import Harness, versions

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32

Configs = list[tuple[str, str | None]]
RequestedResource = tuple[int, str, Configs]
Result = tuple[int, str, int, str | None]


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("t", "u", configs={"cleanup.policy": "compact", "retention.ms": "7"})
    return cluster


def alter(
    cluster: Harness, *requested: RequestedResource, version: int = 2, validate_only: bool = False
) -> list[Result]:
    resources = [
        AlterConfigsRequest.AlterConfigsResource(
            resource_type=kind,
            resource_name=name,
            configs=[AlterConfigsRequest.AlterableConfig(name=config, value=value) for config, value in configs],
        )
        for kind, name, configs in requested
    ]
    response = cluster.submit(AlterConfigsRequest(resources=resources, validate_only=validate_only), version)
    return [
        (result.resource_type, result.resource_name, result.error_code, result.error_message)
        for result in response.responses
    ]


def held(cluster: Harness, kind: int = TOPIC, name: str = "t") -> dict[str, str]:
    return dict(cluster.image.config_overrides(kind, name))


@pytest.mark.parametrize("version", versions("AlterConfigs"))
def test_everything_is_replaced_at_every_version(cluster: Harness, version: int) -> None:
    requested: RequestedResource = (TOPIC, "t", [("retention.ms", "9"), ("segment.ms", "99")])
    assert alter(cluster, requested, version=version) == [(TOPIC, "t", 0, None)]
    assert held(cluster) == {"retention.ms": "9", "segment.ms": "99"}
    assert not cluster.partition("t").log.config.compacts
    assert held(cluster, name="u") == {"cleanup.policy": "compact", "retention.ms": "7"}


def test_alter_configs_without_configs_deletes_all(cluster: Harness) -> None:
    assert alter(cluster, (TOPIC, "t", [])) == [(TOPIC, "t", 0, None)]
    assert held(cluster) == {}


def test_validate_only_changes_nothing(cluster: Harness) -> None:
    end = cluster.image.end
    requested: RequestedResource = (TOPIC, "t", [("retention.ms", "9")])
    assert alter(cluster, requested, (TOPIC, "nope", []), validate_only=True) == [
        (TOPIC, "t", 0, None),
        (TOPIC, "nope", error_codes.UNKNOWN_TOPIC_OR_PARTITION, "The topic 'nope' does not exist."),
    ]
    assert cluster.image.end == end


ERRORS: list[tuple[RequestedResource, int, str]] = [
    (
        (TOPIC, "t", [("retention.ms", None)]),
        error_codes.INVALID_REQUEST,
        "Null value not supported for : retention.ms",
    ),
    (
        (TOPIC, "t", [("retention.ms", "1"), ("retention.ms", "2")]),
        error_codes.INVALID_REQUEST,
        "Error due to duplicate config keys",
    ),
    ((TOPIC, "t", [("x", "1")]), error_codes.INVALID_CONFIG, "Unknown topic config name: x"),
    (
        (TOPIC, "t", [("retention.ms", "q")]),
        error_codes.INVALID_CONFIG,
        "Invalid value q for configuration retention.ms: Not a number of type LONG",
    ),
    ((TOPIC, "nope", []), error_codes.UNKNOWN_TOPIC_OR_PARTITION, "The topic 'nope' does not exist."),
    ((TOPIC, "a b", []), error_codes.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: 'a b' contains one or more"),
    ((TOPIC, "", []), error_codes.INVALID_REQUEST, "Default topic resources are not allowed."),
    ((BROKER, "2", []), error_codes.INVALID_REQUEST, "Unexpected broker id, expected 1, but received 2"),
    ((BROKER, "x", []), error_codes.INVALID_REQUEST, "Node id must be an integer, but it is: x"),
    (
        (BROKER, "", [("min.insync.replicas", "1"), ("num.partitions", "2")]),
        error_codes.INVALID_REQUEST,
        "Cannot update these configs dynamically: [num.partitions]",
    ),
    (
        (BROKER, "", []),
        error_codes.INVALID_CONFIG,
        "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.",
    ),
    ((LOGGER, "1", []), error_codes.INVALID_REQUEST, "Unknown resource type 8"),
    ((METRICS, "", []), error_codes.INVALID_REQUEST, "Subscription name can't be empty"),
    ((GROUP, "", []), error_codes.INVALID_REQUEST, "Default group resources are not allowed."),
    ((0, "g", []), error_codes.INVALID_REQUEST, "Unknown resource type 0"),
    ((99, "g", []), error_codes.INVALID_REQUEST, "Unknown resource type 99"),
]


@pytest.mark.parametrize(("requested", "code", "text"), ERRORS)
@pytest.mark.parametrize("validate_only", [False, True])
def test_errors(cluster: Harness, requested: RequestedResource, code: int, text: str, validate_only: bool) -> None:
    end = cluster.image.end
    [(kind, name, found, message)] = alter(cluster, requested, validate_only=validate_only)
    assert (kind, name, found) == (requested[0], requested[1], code)
    assert text in str(message)
    assert cluster.image.end == end


def test_a_duplicate_resource_fails_twice_and_others_do_not_suffer(cluster: Harness) -> None:
    twice = "Each resource must appear at most once."
    requested: list[RequestedResource] = [
        (TOPIC, "t", [("retention.ms", "1")]),
        (TOPIC, "u", [("retention.ms", "2")]),
        (TOPIC, "t", [("retention.ms", "3")]),
    ]
    assert alter(cluster, *requested) == [
        (TOPIC, "t", error_codes.INVALID_REQUEST, twice),
        (TOPIC, "u", 0, None),
        (TOPIC, "t", error_codes.INVALID_REQUEST, twice),
    ]
    assert held(cluster)["retention.ms"] == "7"
    assert held(cluster, name="u") == {"retention.ms": "2"}


def test_the_same_name_of_another_kind_is_another_resource(cluster: Harness) -> None:
    session: Configs = [("consumer.session.timeout.ms", "46000")]
    assert [code for _, _, code, _ in alter(cluster, (TOPIC, "t", []), (GROUP, "t", session))] == [0, 0]
    assert held(cluster, GROUP, "t") == dict(session)


def test_a_broker(cluster: Harness) -> None:
    alter(cluster, (BROKER, "1", [("log.retention.ms", "77")]))
    assert cluster.node.settings.int("log.retention.ms") == 77
    cluster.create("new")
    assert cluster.partition("new").log.config.retention_ms == 77
    alter(cluster, (BROKER, "1", []))
    assert cluster.node.settings["log.retention.ms"] is None
    assert cluster.partition("new").log.config.retention_ms == 604_800_000


def test_a_subscription(cluster: Harness) -> None:
    assert alter(cluster, (METRICS, "s", [("interval.ms", "100")])) == [(METRICS, "s", 0, None)]
    assert held(cluster, METRICS, "s") == {"interval.ms": "100"}


def test_alter_configs_writes_only_changed_configs(cluster: Harness) -> None:
    end = cluster.image.end
    alter(cluster, (TOPIC, "t", [("cleanup.policy", "compact"), ("retention.ms", "7")]))
    assert cluster.image.end == end
    alter(cluster, (TOPIC, "t", [("cleanup.policy", "compact"), ("min.insync.replicas", "2")]))
    [batch] = cluster.node.controller.log.batches(end.offset)
    [found] = decode_batches(batch)
    assert [type(record).__name__ for record in found.records] == ["ConfigRecord", "ConfigRecord", "ClearElrRecord"]


def test_too_much_for_one_request(cluster: Harness) -> None:
    many: Configs = [(f"some.plugin.{number}", "x") for number in range(10_001)]
    results = alter(cluster, (BROKER, "1", many), (TOPIC, "t", []))
    text = "Unable to perform excessively large batch operation."
    assert results == [
        (BROKER, "1", error_codes.POLICY_VIOLATION, text),
        (TOPIC, "t", error_codes.POLICY_VIOLATION, text),
    ]
    assert held(cluster)["retention.ms"] == "7"


def test_an_empty_request_has_an_empty_answer(cluster: Harness) -> None:
    assert alter(cluster) == []
