"""AlterConfigs and IncrementalAlterConfigs: operations, refusals, records."""

import pytest

from kafkadouble.server.configs.alter import AlterConfigOp, AlterConfigOpType, Resource, Target, altered, replaced
from kafkadouble.server.configs.definition import ConfigRefused, InvalidConfig, InvalidRequest
from kafkadouble.server.configs.layers import Layers

SET, DELETE, APPEND, SUBTRACT = AlterConfigOpType
TOPIC, BROKER, METRICS, GROUP = Resource.TOPIC, Resource.BROKER, Resource.CLIENT_METRICS, Resource.GROUP


def target(kind: Resource, name: str = "1", elr: bool = False, **current: str) -> Target:
    held = {key.replace("_", "."): value for key, value in current.items()}
    layers = Layers({"node.id": "1", "broker.id": "1"}, *(({}, held) if name else (held, {})) if kind is BROKER else ())
    return Target(kind, name, held, layers, elr)


def refused(of: Target, *changes: tuple[str, int, str | None]) -> str:
    with pytest.raises(ConfigRefused) as refusal:
        altered(of, [AlterConfigOp(*change) for change in changes])
    return f"{refusal.value.error}: {refusal.value}"


@pytest.mark.parametrize(
    ("held", "operation", "value", "after"),
    [
        ({}, SET, "compact", "compact"),
        ({"cleanup.policy": "compact"}, DELETE, None, None),
        ({"cleanup.policy": "compact"}, DELETE, "whatever", None),
        ({}, APPEND, "compact", "delete,compact"),
        ({"cleanup.policy": "compact"}, APPEND, "delete", "compact,delete"),
        ({"cleanup.policy": ""}, APPEND, "delete,delete", "delete"),
        ({"cleanup.policy": "compact,delete"}, SUBTRACT, "delete", "compact"),
        ({}, SUBTRACT, "delete", ""),
    ],
)
def test_incremental_alteration_of_a_config_has_four_operations(
    held: dict[str, str], operation: int, value: str | None, after: str | None
) -> None:
    assert altered(target(TOPIC)._replace(current=held), [AlterConfigOp("cleanup.policy", operation, value)]) == {
        "cleanup.policy": after
    }


def test_unchanged_config_is_written_only_for_brokers() -> None:
    same = [AlterConfigOp("retention.ms", SET, "5"), AlterConfigOp("segment.ms", DELETE, None)]
    assert altered(target(TOPIC, retention_ms="5"), same) == {}
    assert altered(target(TOPIC, cleanup_policy="compact"), [AlterConfigOp("cleanup.policy", APPEND, "compact")]) == {}
    again = [AlterConfigOp("log.retention.ms", SET, "5"), AlterConfigOp("log.roll.ms", DELETE, None)]
    assert altered(target(BROKER, log_retention_ms="5"), again) == {"log.retention.ms": "5", "log.roll.ms": None}


def test_alter_configs_replaces_everything() -> None:
    of = target(TOPIC, retention_ms="5", segment_ms="6")
    assert replaced(of, {"retention.ms": "7"}) == {"retention.ms": "7", "segment.ms": None}
    assert replaced(target(BROKER, log_retention_ms="5"), {}) == {"log.retention.ms": None}
    with pytest.raises(InvalidRequest, match=r"Null value not supported for : a, b"):
        replaced(of, {"a": None, "b": None, "retention.ms": "7"})
    with pytest.raises(InvalidRequest, match="Cannot update these configs dynamically"):
        replaced(target(BROKER), {"broker.rack": "r"})


@pytest.mark.parametrize(
    ("of", "change", "refusal"),
    [
        (target(TOPIC), ("unheard.of", SUBTRACT, "1"), "INVALID_CONFIG: Can't SUBTRACT to key unheard.of"),
        (target(TOPIC), ("retention.ms", 9, "1"), "INVALID_REQUEST: Unknown operations type 9"),
        (
            target(TOPIC),
            ("segment.bytes", SET, "14"),
            "INVALID_CONFIG: Invalid value 14 for configuration segment.bytes",
        ),
        (
            target(TOPIC),
            ("cleanup.policy", SET, "x"),
            "INVALID_CONFIG: Invalid value x for configuration cleanup.policy",
        ),
        (target(TOPIC), ("cleanup.policy", SUBTRACT, "x" * 9), None),
        (target(TOPIC), ("max.compaction.lag.ms", SET, "1"), None),
        (
            target(TOPIC, min_compaction_lag_ms="2"),
            ("max.compaction.lag.ms", SET, "1"),
            "INVALID_CONFIG: conflict topic config",
        ),
        (
            target(TOPIC),
            ("remote.storage.enable", SET, "true"),
            "INVALID_CONFIG: Tiered Storage functionality is disabled",
        ),
        (
            target(TOPIC),
            ("follower.replication.throttled.replicas", SET, "\ud83d" * 40_000),
            "INVALID_CONFIG: The configuration value",
        ),
        (
            target(BROKER),
            ("num.partitions", SET, "2"),
            "INVALID_REQUEST: Cannot update these configs dynamically: [num.partitions]",
        ),
        (target(BROKER), ("log.retention.hours", SET, "2"), "INVALID_REQUEST: Cannot update these configs dynamically"),
        (
            target(BROKER),
            ("ssl.keystore.type", SET, "PEM"),
            "INVALID_REQUEST: These security configs can be dynamically updated only",
        ),
        (
            target(BROKER, ""),
            ("listeners", SET, "PLAINTEXT://:1"),
            "INVALID_REQUEST: Cannot update these configs at default cluster level",
        ),
        (
            target(BROKER),
            ("listeners", SET, "nonsense"),
            "INVALID_REQUEST: Invalid value [nonsense] for configuration listeners",
        ),
        (
            target(BROKER),
            ("listeners", SET, "OTHER://:1"),
            "INVALID_REQUEST: No security protocol defined for listener OTHER",
        ),
        (target(BROKER), ("log.retention.ms", SET, "0"), "INVALID_REQUEST: log.retention.ms must be unlimited"),
        (
            target(BROKER),
            ("log.retention.ms", SET, "x"),
            "INVALID_REQUEST: Invalid value x for configuration log.retention.ms",
        ),
        (
            target(BROKER),
            ("listener.name.a.max.connections", SET, "x"),
            "INVALID_REQUEST: Invalid value x for configuration",
        ),
        (
            target(BROKER),
            ("num.io.threads", SET, "17"),
            "INVALID_REQUEST: Invalid value org.apache.kafka.common.config.ConfigException",
        ),
        (
            target(BROKER),
            ("num.io.threads", SET, "3"),
            "INVALID_REQUEST: Invalid value org.apache.kafka.common.config.ConfigException",
        ),
        (target(BROKER), ("num.io.threads", SET, "16"), None),
        (
            target(BROKER),
            ("num.io.threads", APPEND, "1"),
            "INVALID_CONFIG: Config value append is not allowed for config key: num.io.threads",
        ),
        (target(BROKER), ("unheard.of", APPEND, "1"), "INVALID_CONFIG: Unknown config name: unheard.of"),
        (target(BROKER), ("unheard.of", SET, "1"), None),
        (
            target(BROKER),
            ("log.cleanup.policy", APPEND, "compact,compact"),
            "INVALID_REQUEST: Configuration 'log.cleanup.policy'",
        ),
        (
            target(BROKER),
            ("group.consumer.assignment.interval.ms", SET, "15001"),
            "INVALID_REQUEST: group.consumer.assignment.interval.ms",
        ),
        (
            target(BROKER, elr=True),
            ("min.insync.replicas", SET, "1"),
            "INVALID_CONFIG: Broker-level min.insync.replicas",
        ),
        (
            target(BROKER, "", elr=True),
            ("min.insync.replicas", DELETE, None),
            "INVALID_CONFIG: Cluster-level min.insync.replicas",
        ),
        (target(BROKER, "", elr=True), ("min.insync.replicas", SET, "2"), None),
        (target(Resource.BROKER_LOGGER), ("a", SET, "INFO"), "INVALID_REQUEST: Unknown resource type 8"),
        (target(GROUP), ("unheard.of", SET, "1"), "INVALID_CONFIG: Unknown group config name: unheard.of"),
        (
            target(GROUP),
            ("consumer.session.timeout.ms", SET, "1000"),
            "INVALID_CONFIG: consumer.session.timeout.ms must be in the range 45000",
        ),
        (
            target(GROUP),
            ("streams.num.standby.replicas", SET, "3"),
            "INVALID_CONFIG: streams.num.standby.replicas must be less than",
        ),
        (
            target(GROUP),
            ("streams.task.offset.interval.ms", SET, "3"),
            "INVALID_CONFIG: streams.task.offset.interval.ms must be greater than",
        ),
        (
            target(GROUP),
            ("streams.rack.aware.assignment.tags", SET, "a,a"),
            "INVALID_CONFIG: streams.rack.aware.assignment.tags must not",
        ),
        (
            target(GROUP),
            ("streams.assignor.name", SET, "x"),
            "INVALID_CONFIG: streams.assignor.name 'x' is not a registered",
        ),
        (
            target(GROUP),
            ("errors.deadletterqueue.topic.name", SET, "__x"),
            "INVALID_CONFIG: errors.deadletterqueue.topic.name",
        ),
        (
            target(METRICS),
            ("unheard.of", SET, "1"),
            "INVALID_REQUEST: Unknown client metrics configuration: unheard.of",
        ),
        (target(METRICS), ("interval.ms", SET, "99"), "INVALID_REQUEST: Invalid value 99 for interval.ms"),
        (target(METRICS), ("match", SET, "client_id=["), "INVALID_CONFIG: Illegal client matching pattern"),
        (
            target(METRICS),
            ("match", SET, "client_id=a{99999999999999999999}"),
            "INVALID_CONFIG: Illegal client matching pattern",
        ),
        (target(METRICS), ("match", SET, "who=x"), "INVALID_CONFIG: Illegal client matching pattern"),
        (target(METRICS), ("match", SET, "client_id=a.*,client_source_port=9"), None),
    ],
)
def test_config_alteration_that_is_allowed(
    of: Target, change: tuple[str, int, str | None], refusal: str | None
) -> None:
    if refusal is None:
        assert list(altered(of, [AlterConfigOp(*change)])) == [change[0]]
    else:
        assert refused(of, change).startswith(refusal)


def test_sessions_are_longer_than_heartbeats() -> None:
    layers = Layers(
        {"group.consumer.min.session.timeout.ms": "5000", "group.consumer.max.heartbeat.interval.ms": "60000"}
    )
    of = Target(GROUP, "g", {"consumer.session.timeout.ms": "6000"}, layers)
    assert "must be greater than consumer.heartbeat.interval.ms" in refused(
        of, ("consumer.heartbeat.interval.ms", SET, "6000")
    )


@pytest.mark.parametrize(
    ("configs", "refusal"),
    [
        ({}, None),
        ({"cleanup.policy": ""}, None),
        ({"cleanup.policy": "compact"}, "only supports topics with cleanup.policy=delete"),
        ({"local.retention.ms": "-1"}, "Value must not be -1 as retention.ms value is set as"),
        ({"local.retention.ms": "-1", "retention.ms": "-1"}, None),
        (
            {"local.retention.bytes": "9", "retention.bytes": "8"},
            "Value must not be more than retention.bytes property value: 8",
        ),
        (
            {"remote.copy.lag.ms": "9", "local.retention.ms": "8"},
            r"must not exceed local.retention.ms \(effective value: 8\)",
        ),
        (
            {"remote.copy.lag.bytes": "9", "retention.bytes": "8"},
            r"must not exceed local.retention.bytes \(effective value: 8\)",
        ),
        ({"remote.log.copy.disable": "true"}, None),
        ({"remote.log.copy.disable": "true", "local.retention.ms": "8"}, "must be set to the identical value"),
    ],
)
def test_the_rules_of_tiered_topics(configs: dict[str, str], refusal: str | None) -> None:
    of = Target(TOPIC, "t", {}, Layers({"remote.log.storage.system.enable": "true"}))
    changes = [AlterConfigOp(name, SET, value) for name, value in {"remote.storage.enable": "true", **configs}.items()]
    if refusal is None:
        assert altered(of, changes)
    else:
        with pytest.raises(InvalidConfig, match=refusal):
            altered(of, changes)


def test_remote_storage_config_is_not_disabled_with_data_left() -> None:
    of = target(TOPIC, remote_storage_enable="true")
    assert "without deleting remote data" in refused(of, ("remote.storage.enable", SET, "false"))
    both = [
        AlterConfigOp("remote.storage.enable", SET, "false"),
        AlterConfigOp("remote.log.delete.on.disable", SET, "true"),
    ]
    assert len(altered(of, both)) == 2


def test_a_stored_value_that_cannot_be_does_not_block_other_changes() -> None:
    of = target(BROKER, num_partitions="4", log_retention_ms="never")
    assert altered(of, [AlterConfigOp("log.roll.ms", SET, "5")]) == {"log.roll.ms": "5"}
    assert "Cannot update" in refused(of, ("num.partitions", SET, "4"))
