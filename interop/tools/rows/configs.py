"""Rows of kafka-configs, for each type of entity, and of kafka-client-metrics, which does a part of
it with other options."""

from __future__ import annotations

from ..parse import everything, lines, settings
from ..row import Row, Scenario, has

TOOL, METRICS = "kafka-configs", "kafka-client-metrics"
QUOTAS, CREDENTIALS = "DescribeClientQuotas", "DescribeUserScramCredentials"


def _entity(kind: str, name: str, title: str, setting: str, value: str, source: str, default: str) -> list[Row]:
    """Rows that set, describe and delete a setting. `title` is the tool's name for the entity,
    `default` the synonym with the default value."""
    at = f"--entity-type {kind} {name}"
    written = f"[{value}]" if "," in value else value
    which = f"{kind} default" if name == "--entity-default" else kind
    given = {"value": value, "sensitive": "false", "synonyms": f"{source}:{setting}={value}{default}"}
    return [
        Row(TOOL, f"alter {which}", f"{at} --alter --add-config {setting}={written}", [f"Completed updating {title}."]),
        Row(TOOL, f"describe {which}", f"{at} --describe", {setting: given}, settings),
        Row(TOOL, "", f"{at} --alter --delete-config {setting}", [f"Completed updating {title}."]),
        Row(TOOL, "", f"{at} --describe", lambda found: setting not in found, settings),
    ]


TOPICS = (
    Row("kafka-topics", "", "--create --topic {topic}", ["Created topic {topic}."]),
    *_entity(
        "topics",
        "--entity-name {topic}",
        "config for topic {topic}",
        "cleanup.policy",
        "compact,delete",
        "DYNAMIC_TOPIC_CONFIG",
        ", DEFAULT_CONFIG:log.cleanup.policy=delete",
    ),
    Row(
        TOOL,
        "describe all of a topic",
        "--entity-type topics --entity-name {topic} --describe --all",
        {
            "retention.ms": {"value": "604800000", "synonyms": ""},
            "max.message.bytes": {"value": "1048588", "synonyms": "DEFAULT_CONFIG:message.max.bytes=1048588"},
            "cleanup.policy": {"value": "delete", "synonyms": "DEFAULT_CONFIG:log.cleanup.policy=delete"},
        },
        settings,
    ),
    Row(
        TOOL,
        "alter from a file",
        "--entity-type topics --entity-name {topic} --alter --add-config-file add.properties",
        ["Completed updating config for topic {topic}."],
        files={"add.properties": "retention.ms=7777\nsegment.ms=8888\n"},
    ),
    Row(
        TOOL,
        "",
        "--entity-type topics --entity-name {topic} --describe",
        {"retention.ms": {"value": "7777"}, "segment.ms": {"value": "8888"}},
        settings,
    ),
    Row(
        TOOL,
        "alter to an invalid value",
        "--entity-type topics --entity-name {topic} --alter --add-config retention.ms=soon",
        lambda found: "Invalid value soon for configuration retention.ms: Not a number of type LONG" in found,
        everything,
        code=1,
    ),
    Row(
        TOOL,
        "describe an unknown topic",
        "--entity-type topics --entity-name {topic}-no --describe",
        ["The topic '{topic}-no' doesn't exist and doesn't have dynamic config."],
    ),
)

BROKERS = (
    *_entity(
        "brokers",
        "--entity-name {node}",
        "config for broker {node}",
        "log.cleaner.threads",
        "2",
        "DYNAMIC_BROKER_CONFIG",
        ", DEFAULT_CONFIG:log.cleaner.threads=1",
    ),
    *_entity(
        "brokers",
        "--entity-default",
        "default config for brokers in the cluster",
        "message.max.bytes",
        "2000000",
        "DYNAMIC_DEFAULT_BROKER_CONFIG",
        "",
    ),
    Row(
        TOOL,
        "describe all of a broker",
        "--entity-type brokers --entity-name {node} --describe --all",
        {
            "broker.id": {"value": "{node}"},
            "log.segment.bytes": {"value": "1073741824", "synonyms": "DEFAULT_CONFIG:log.segment.bytes=1073741824"},
            "auto.create.topics.enable": {"value": "true"},
            "ssl.keystore.password": {"value": "null", "sensitive": "true"},
        },
        settings,
    ),
    Row(
        TOOL,
        "describe broker-loggers",
        "--entity-type broker-loggers --entity-name {node} --describe",
        {"root": {"sensitive": "false", "synonyms": ""}},
        settings,
    ),
    Row(
        TOOL,
        "alter broker-loggers",
        "--entity-type broker-loggers --entity-name {node} --alter --add-config root=ERROR",
        ["Completed updating config for broker-logger {node}."],
    ),
    Row(
        TOOL,
        "",
        "--entity-type broker-loggers --entity-name {node} --describe",
        {"root": {"value": "ERROR"}},
        settings,
    ),
    Row(
        TOOL,
        "",
        "--entity-type broker-loggers --entity-name {node} --alter --add-config root=WARN",
        ["Completed updating config for broker-logger {node}."],
    ),
)

GROUPS = tuple(
    _entity(
        "groups",
        "--entity-name {group}",
        "config for group {group}",
        "consumer.session.timeout.ms",
        "50000",
        "DYNAMIC_GROUP_CONFIG",
        ", DEFAULT_CONFIG:group.consumer.session.timeout.ms=45000",
    )
)

CLIENT_METRICS = (
    *_entity(
        "client-metrics",
        "--entity-name {topic}",
        "config for client-metric {topic}",
        "interval.ms",
        "6000",
        "DYNAMIC_CLIENT_METRICS_CONFIG",
        "",
    ),
    Row(
        METRICS,
        "alter",
        "--alter --name {topic} --interval 5000 --metrics org.apache.kafka.producer. --match client_id=a.*",
        ["Altered client metrics config for {topic}."],
    ),
    Row(
        METRICS,
        "describe",
        "--describe --name {topic}",
        [
            "Client metrics configs for {topic} are:",
            "  interval.ms=5000",
            "  match=client_id=a.*",
            "  metrics=org.apache.kafka.producer.",
        ],
        lines,
    ),
    Row(METRICS, "list", "--list", has("{topic}")),
    Row(METRICS, "delete", "--delete --name {topic}", ["Deleted client metrics config for {topic}."]),
)

QUOTA_ROWS = (
    Row(
        TOOL,
        "alter users",
        "--entity-type users --entity-name {topic} --alter --add-config producer_byte_rate=1024",
        ["Completed updating config for user {topic}."],
        needs=QUOTAS,
    ),
    Row(
        TOOL,
        "describe users",
        "--entity-type users --entity-name {topic} --describe",
        ["Quota configs for user-principal '{topic}' are producer_byte_rate=1024.0"],
        needs=QUOTAS,
    ),
    Row(
        TOOL,
        "",
        "--entity-type users --entity-name {topic} --alter --delete-config producer_byte_rate",
        ["Completed updating config for user {topic}."],
        needs=QUOTAS,
    ),
    Row(
        TOOL,
        "describe clients",
        "--entity-type clients --entity-name {topic} --describe",
        [],
        needs=QUOTAS,
    ),
    Row(
        TOOL,
        "describe ips",
        "--entity-type ips --entity-name 127.0.0.1 --describe",
        [],
        needs=QUOTAS,
    ),
)

PASSWORDS = (
    Row(
        TOOL,
        "alter passwords of users",
        "--entity-type users --entity-name {topic} --alter --add-config SCRAM-SHA-512=[iterations=8192,password=secret]",
        ["Completed updating config for user {topic}."],
        needs=CREDENTIALS,
    ),
    Row(
        TOOL,
        "describe passwords of users",
        "--entity-type users --entity-name {topic} --describe",
        ["SCRAM credential configs for user-principal '{topic}' are SCRAM-SHA-512=iterations=8192"],
        needs=CREDENTIALS,
    ),
    Row(
        TOOL,
        "alter two passwords of a user",
        "--entity-type users --entity-name {topic} --alter --delete-config SCRAM-SHA-256,SCRAM-SHA-512",
        lambda found: (
            "A user credential cannot be altered twice in the same request" in found
            or "Attempt to delete a user credential that does not exist" in found
        ),
        everything,
        code=1,
        needs=CREDENTIALS,
    ),
    Row(
        TOOL,
        "",
        "--entity-type users --entity-name {topic} --alter --delete-config SCRAM-SHA-512",
        ["Completed updating config for user {topic}."],
        needs=CREDENTIALS,
    ),
    Row(TOOL, "", "--entity-type users --entity-name {topic} --describe", [], needs=CREDENTIALS),
)

SCENARIOS = (
    Scenario("configs of topics", TOPICS),
    Scenario("configs of brokers", BROKERS, own=True),
    Scenario("configs of groups", GROUPS),
    Scenario("client metrics", CLIENT_METRICS),
    Scenario("quotas", QUOTA_ROWS),
    Scenario("passwords", PASSWORDS),
)
