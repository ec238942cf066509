"""IncrementalAlterConfigs: four operations, at both versions, on every kind of resource. Errors are
those of a real Kafka 4.4.0."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from tests.server.harness import Harness, versions

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3

Changes = list[tuple[str, int, str | None]]
RequestedResource = tuple[int, str, Changes]
Result = tuple[int, str, int, str | None]


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("t", "u")
    return cluster


@pytest.fixture
def loggers() -> Iterator[logging.Logger]:
    """A logger of ours, and the root logger; both get their levels back."""
    top, one = logging.getLogger("kafkadouble"), logging.getLogger("kafkadouble.test_incremental")
    levels = top.level, one.level
    yield one
    top.setLevel(levels[0])
    one.setLevel(levels[1])


def alter(
    cluster: Harness, *requested: RequestedResource, version: int = 1, validate_only: bool = False
) -> list[Result]:
    resources = [
        IncrementalAlterConfigsRequest.AlterConfigsResource(
            resource_type=kind,
            resource_name=name,
            configs=[
                IncrementalAlterConfigsRequest.AlterableConfig(name=config, config_operation=operation, value=value)
                for config, operation, value in changes
            ],
        )
        for kind, name, changes in requested
    ]
    response = cluster.submit(IncrementalAlterConfigsRequest(resources=resources, validate_only=validate_only), version)
    return [
        (result.resource_type, result.resource_name, result.error_code, result.error_message)
        for result in response.responses
    ]


def held(cluster: Harness, kind: int = TOPIC, name: str = "t") -> dict[str, str]:
    return dict(cluster.image.config_overrides(kind, name))


@pytest.mark.parametrize("version", versions("IncrementalAlterConfigs"))
def test_set_and_delete_at_every_version(cluster: Harness, version: int) -> None:
    changes: Changes = [("retention.ms", SET, "9"), ("segment.ms", SET, "8")]
    assert alter(cluster, (TOPIC, "t", changes), version=version) == [(TOPIC, "t", 0, None)]
    assert cluster.partition("t").log.config.retention_ms == 9
    assert alter(cluster, (TOPIC, "t", [("retention.ms", DELETE, None)]), version=version) == [(TOPIC, "t", 0, None)]
    assert held(cluster) == {"segment.ms": "8"}
    assert cluster.partition("t").log.config.retention_ms == 604_800_000
    assert cluster.partition("u").log.config.segment_ms == 604_800_000


STEPS: list[tuple[int, str | None, str | None]] = [  # operation, value -> cleanup.policy after it
    (APPEND, "compact", "delete,compact"),
    (APPEND, "compact,delete", "delete,compact"),
    (SUBTRACT, "delete", "compact"),
    (SUBTRACT, "delete", "compact"),
    (SUBTRACT, "compact", ""),
    (APPEND, "delete", "delete"),
    (DELETE, None, None),
    (DELETE, "x", None),
]


def test_append_and_subtract_change_a_list_config(cluster: Harness) -> None:
    for operation, value, expected in STEPS:
        assert alter(cluster, (TOPIC, "t", [("cleanup.policy", operation, value)])) == [(TOPIC, "t", 0, None)]
        assert held(cluster).get("cleanup.policy") == expected


def test_validate_only_changes_nothing(cluster: Harness, loggers: logging.Logger) -> None:
    end, level = cluster.image.end, loggers.level
    requested: list[RequestedResource] = [
        (TOPIC, "t", [("retention.ms", SET, "9")]),
        (LOGGER, "1", [(loggers.name, SET, "FATAL")]),
        (BROKER, "", [("log.retention.ms", SET, "9")]),
    ]
    assert [code for _, _, code, _ in alter(cluster, *requested, validate_only=True)] == [0, 0, 0]
    assert cluster.image.end == end
    assert loggers.level == level


def test_invalid_config_fails_all_changes_of_its_resource(cluster: Harness) -> None:
    changes: Changes = [("retention.ms", SET, "10"), ("segment.ms", SET, "0")]
    assert alter(cluster, (TOPIC, "t", changes)) == [
        (
            TOPIC,
            "t",
            error_codes.INVALID_CONFIG,
            "Invalid value 0 for configuration segment.ms: Value must be at least 1",
        )
    ]
    assert held(cluster) == {}


def test_failed_resource_does_not_fail_other_resources(cluster: Harness) -> None:
    requested: list[RequestedResource] = [
        (TOPIC, "t", [("retention.ms", SET, "1")]),
        (TOPIC, "u", [("retention.ms", SET, "x")]),
    ]
    assert [code for _, _, code, _ in alter(cluster, *requested)] == [0, error_codes.INVALID_CONFIG]
    assert held(cluster) == {"retention.ms": "1"}


def test_duplicate_resource_is_refused_each_time(cluster: Harness) -> None:
    requested: list[RequestedResource] = [
        (TOPIC, "t", [("retention.ms", SET, "1")]),
        (TOPIC, "t", [("retention.ms", SET, "2")]),
        (TOPIC, "u", [("retention.ms", SET, "2")]),
    ]
    twice = (TOPIC, "t", error_codes.INVALID_REQUEST, "Each resource must appear at most once.")
    assert alter(cluster, *requested) == [twice, twice, (TOPIC, "u", 0, None)]
    assert held(cluster) == {}


BAD, WRONG = error_codes.INVALID_REQUEST, error_codes.INVALID_CONFIG

ERRORS: list[tuple[RequestedResource, int, str]] = [
    (
        (TOPIC, "t", [("retention.ms", APPEND, "9")]),
        WRONG,
        "Can't APPEND to key retention.ms because its type is not LIST.",
    ),
    ((TOPIC, "t", [("nope", APPEND, "9")]), WRONG, "Can't APPEND to key nope because its type is not LIST."),
    ((TOPIC, "t", [("retention.ms", 4, "9")]), BAD, "Unknown operations type 4"),
    ((TOPIC, "t", [("retention.ms", SET, None)]), BAD, "Null value not supported for : retention.ms"),
    ((TOPIC, "t", [("cleanup.policy", APPEND, None)]), BAD, "Null value not supported for : cleanup.policy"),
    (
        (TOPIC, "t", [("retention.ms", SET, "9"), ("retention.ms", DELETE, "8")]),
        BAD,
        "Error due to duplicate config keys",
    ),
    ((TOPIC, "t", [("nope", SET, "9")]), WRONG, "Unknown topic config name: nope"),
    (
        (TOPIC, "nope", [("retention.ms", SET, "9")]),
        error_codes.UNKNOWN_TOPIC_OR_PARTITION,
        "The topic 'nope' does not exist.",
    ),
    ((TOPIC, "a b", [("retention.ms", SET, "9")]), error_codes.INVALID_TOPIC_EXCEPTION, "Topic name is invalid: 'a b'"),
    ((TOPIC, "", [("retention.ms", SET, "9")]), BAD, "Default topic resources are not allowed."),
    ((BROKER, "1", [("num.partitions", SET, "2")]), BAD, "Cannot update these configs dynamically: [num.partitions]"),
    ((BROKER, "2", [("log.retention.ms", SET, "2")]), BAD, "Unexpected broker id, expected 1, but received 2"),
    ((BROKER, "x", []), BAD, "Node id must be an integer, but it is: x"),
    ((BROKER, "", [("nope.x", APPEND, "2")]), WRONG, "Unknown config name: nope.x"),
    (
        (BROKER, "", [("log.retention.ms", APPEND, "1")]),
        WRONG,
        "Config value append is not allowed for config key: log.retention.ms",
    ),
    (
        (BROKER, "", [("log.retention.ms", SET, "zz")]),
        BAD,
        "Invalid value zz for configuration log.retention.ms: Not a number of type LONG",
    ),
    ((BROKER, "", [("log.retention.ms", 9, "1")]), BAD, "Unknown operations type 9"),
    (
        (BROKER, "", [("min.insync.replicas", DELETE, None)]),
        WRONG,
        "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.",
    ),
    (
        (BROKER, "1", [("min.insync.replicas", SET, "2")]),
        WRONG,
        "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
    ),
    (
        (BROKER, "", [("listeners", SET, "PLAINTEXT://x:1")]),
        BAD,
        "Cannot update these configs at default cluster level, broker id must be specified: [listeners]",
    ),
    ((LOGGER, "1", [("nope", SET, "INFO")]), WRONG, "Logger nope does not exist!"),
    ((LOGGER, "1", [("nope", DELETE, None)]), WRONG, "Logger nope does not exist!"),
    ((LOGGER, "1", [("root", DELETE, None)]), BAD, "Removing the log level of the root logger is not allowed"),
    (
        (LOGGER, "1", [("root", SET, "LOUD")]),
        WRONG,
        "Cannot set the log level of root to LOUD as it is not a supported log level. "
        "Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN",
    ),
    ((LOGGER, "1", [("root", APPEND, "INFO")]), BAD, "APPEND operation is not allowed for the BROKER_LOGGER resource"),
    (
        (LOGGER, "1", [("root", SUBTRACT, "INFO")]),
        BAD,
        "SUBTRACT operation is not allowed for the BROKER_LOGGER resource",
    ),
    (
        (LOGGER, "1", [("root", 7, "INFO")]),
        BAD,
        "Unknown operation type 7 is not allowed for the BROKER_LOGGER resource",
    ),
    ((LOGGER, "1", [("root", SET, "INFO"), ("root", SET, "WARN")]), BAD, "Error due to duplicate config keys"),
    ((LOGGER, "2", [("root", SET, "INFO")]), BAD, "Unexpected node id. Expected 1, but received 2"),
    ((LOGGER, "", [("root", SET, "INFO")]), BAD, "Node id must be an integer, but it is: "),
    ((LOGGER, "x", [("root", SET, "INFO")]), BAD, "Node id must be an integer, but it is: x"),
    (
        (METRICS, "s", [("interval.ms", SET, "1")]),
        BAD,
        "Invalid value 1 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
    ),
    ((METRICS, "s", [("match", SET, "zz")]), WRONG, "Illegal client matching pattern: zz"),
    ((METRICS, "s", [("nope", SET, "1")]), BAD, "Unknown client metrics configuration: nope"),
    ((METRICS, "s", [("metrics", APPEND, "c")]), WRONG, "Can't APPEND to key metrics because its type is not LIST."),
    ((METRICS, "", [("interval.ms", SET, "100")]), BAD, "Subscription name can't be empty"),
    (
        (GROUP, "g", [("consumer.session.timeout.ms", SET, "5")]),
        WRONG,
        "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.",
    ),
    ((GROUP, "g", [("nope", SET, "5")]), WRONG, "Unknown group config name: nope"),
    ((GROUP, "", [("consumer.session.timeout.ms", SET, "5")]), BAD, "Default group resources are not allowed."),
    ((0, "g", []), BAD, "Unknown resource type 0"),
    ((1, "g", []), BAD, "Unknown resource type 1"),
    ((99, "g", []), BAD, "Unknown resource type 99"),
]


@pytest.mark.parametrize(("requested", "code", "text"), ERRORS)
@pytest.mark.parametrize("validate_only", [False, True])
def test_invalid_config_change_is_refused(
    cluster: Harness, requested: RequestedResource, code: int, text: str, validate_only: bool
) -> None:
    end = cluster.image.end
    [(kind, name, found, message)] = alter(cluster, requested, validate_only=validate_only)
    assert (kind, name, found) == (requested[0], requested[1], code)
    assert text in str(message)
    assert cluster.image.end == end


def test_deleting_an_unknown_name_is_no_error(cluster: Harness) -> None:
    assert alter(cluster, (TOPIC, "t", [("nope", DELETE, None)])) == [(TOPIC, "t", 0, None)]
    assert alter(cluster, (TOPIC, "t", [])) == [(TOPIC, "t", 0, None)]


def test_broker_config_overrides_cluster_default(cluster: Harness) -> None:
    alter(cluster, (BROKER, "", [("log.retention.ms", SET, "55")]))
    assert cluster.node.settings.int("log.retention.ms") == 55
    assert cluster.partition("t").log.config.retention_ms == 55
    alter(cluster, (BROKER, "1", [("log.retention.ms", SET, "56")]))
    assert cluster.partition("t").log.config.retention_ms == 56
    alter(cluster, (BROKER, "1", [("log.retention.ms", DELETE, None)]))
    assert cluster.partition("t").log.config.retention_ms == 55


def test_a_broker_may_hold_unknown_names(cluster: Harness) -> None:
    assert alter(cluster, (BROKER, "1", [("nope", SET, "2")])) == [(BROKER, "1", 0, None)]
    assert held(cluster, BROKER, "1") == {"nope": "2"}


@pytest.mark.parametrize(("kind", "name", "elr_of"), [(TOPIC, "t", "t"), (BROKER, "", "")])
def test_a_change_of_min_insync_replicas_forgets_eligible_leader_replicas(
    cluster: Harness, kind: int, name: str, elr_of: str
) -> None:
    written: list[str] = []
    cluster.node.controller.listeners.append(
        lambda before, after, records: written.extend(
            record.topic_name for record in records if type(record).__name__ == "ClearElrRecord"
        )
    )
    alter(cluster, (kind, name, [("min.insync.replicas", SET, "2")]))
    assert written == [elr_of]
    assert cluster.partition("t").log.config.min_insync_replicas == 2


def test_configs_of_groups_and_subscriptions_are_altered(cluster: Harness) -> None:
    alter(cluster, (GROUP, "g", [("consumer.session.timeout.ms", SET, "50000")]))
    alter(cluster, (METRICS, "s", [("interval.ms", SET, "100"), ("metrics", SET, "a,b")]))
    assert held(cluster, GROUP, "g") == {"consumer.session.timeout.ms": "50000"}
    assert held(cluster, METRICS, "s") == {"interval.ms": "100", "metrics": "a,b"}
    alter(cluster, (GROUP, "g", [("consumer.session.timeout.ms", DELETE, "")]))
    assert held(cluster, GROUP, "g") == {}


def test_logger_levels_are_set_and_deleted(cluster: Harness, loggers: logging.Logger) -> None:
    end = cluster.image.end
    assert alter(cluster, (LOGGER, "1", [(loggers.name, SET, "DEBUG"), ("root", SET, "ERROR")])) == [
        (LOGGER, "1", 0, None)
    ]
    assert loggers.level == logging.DEBUG
    assert logging.getLogger("kafkadouble").level == logging.ERROR
    alter(cluster, (LOGGER, "1", [(loggers.name, DELETE, None)]))
    assert loggers.getEffectiveLevel() == logging.ERROR
    assert cluster.image.end == end, "levels are not written to the log"


def test_logger_levels_change_all_or_none(cluster: Harness, loggers: logging.Logger) -> None:
    level = loggers.level
    changes: Changes = [(loggers.name, SET, "DEBUG"), ("nope", SET, "DEBUG")]
    assert alter(cluster, (LOGGER, "1", changes))[0][2] == error_codes.INVALID_CONFIG
    assert loggers.level == level


def test_an_empty_request_has_an_empty_answer(cluster: Harness) -> None:
    assert alter(cluster) == []
