"""The APIs that describe and change the cluster: topics, configurations, rights, features. The
columns are those of `row`."""

from __future__ import annotations

from .row import BODIES, BOTH, CONFIG_VALUES, HANDLER, NONE, ROW, ApiRow

WITHOUT_TELEMETRY = "advertised only with `telemetry=True`, as by a Kafka broker with a plugin for metrics of clients"

RESOURCES = "resource:resources/responses"

ROWS = (
    ApiRow("ApiVersions", forwarded=False, parts=NONE, right=NONE, part_right=NONE, guard=NONE, secrets=NONE),
    ApiRow("SaslHandshake", forwarded=False, parts=NONE, right=NONE, part_right=NONE, guard=NONE, secrets=NONE),
    ApiRow("SaslAuthenticate", forwarded=False, parts=NONE, right=NONE, part_right=NONE, guard=NONE, secrets=BODIES),
    ApiRow(
        "CreateTopics",
        forwarded=True,
        parts="topic:topics/topics",
        right="CREATE cluster",
        part_right="CREATE topic",
        guard=BOTH,
        secrets=CONFIG_VALUES,
        right_or_parts=True,
    ),
    ApiRow(
        "DeleteTopics",
        forwarded=True,
        parts=("topic:topic_names/responses", "topic:topics/responses"),
        right="DELETE cluster",
        part_right="DELETE topic",
        guard=HANDLER,
        right_or_parts=True,
        secrets=NONE,
    ),
    ApiRow(
        "DescribeAcls", forwarded=False, parts=NONE, right="DESCRIBE cluster", part_right=NONE, guard=ROW, secrets=NONE
    ),
    ApiRow("CreateAcls", forwarded=True, parts=NONE, right="ALTER cluster", part_right=NONE, guard=ROW, secrets=NONE),
    ApiRow("DeleteAcls", forwarded=True, parts=NONE, right="ALTER cluster", part_right=NONE, guard=ROW, secrets=NONE),
    ApiRow(
        "DescribeConfigs",
        forwarded=False,
        parts="resource:resources/results",
        right=NONE,
        part_right="DESCRIBE_CONFIGS resource",
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "AlterConfigs",
        forwarded=True,
        parts=RESOURCES,
        right=NONE,
        part_right="ALTER_CONFIGS resource",
        guard=ROW,
        secrets=CONFIG_VALUES,
    ),
    ApiRow(
        "AlterReplicaLogDirs",
        forwarded=False,
        parts=NONE,
        right="ALTER cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "DescribeLogDirs",
        forwarded=False,
        parts=NONE,
        right="DESCRIBE cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "CreatePartitions",
        forwarded=True,
        parts="topic:topics/results",
        right=NONE,
        part_right="ALTER topic",
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "CreateDelegationToken", forwarded=True, parts=NONE, right=NONE, part_right=NONE, guard=HANDLER, secrets=BODIES
    ),
    ApiRow(
        "RenewDelegationToken", forwarded=True, parts=NONE, right=NONE, part_right=NONE, guard=HANDLER, secrets=BODIES
    ),
    ApiRow(
        "ExpireDelegationToken", forwarded=True, parts=NONE, right=NONE, part_right=NONE, guard=HANDLER, secrets=BODIES
    ),
    ApiRow(
        "DescribeDelegationToken",
        forwarded=False,
        parts=NONE,
        right=NONE,
        part_right="DESCRIBE delegation_token",
        guard=HANDLER,
        secrets=BODIES,
    ),
    ApiRow(
        "ElectLeaders",
        forwarded=True,
        parts="topic:topic_partitions/replica_election_results partition:partitions/partition_result",
        right="ALTER cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "IncrementalAlterConfigs",
        forwarded=True,
        parts=RESOURCES,
        right=NONE,
        part_right="ALTER_CONFIGS resource",
        guard=ROW,
        secrets=CONFIG_VALUES,
    ),
    ApiRow(
        "AlterPartitionReassignments",
        forwarded=True,
        parts="topic:topics/responses partition:partitions/partitions",
        right="ALTER cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "ListPartitionReassignments",
        forwarded=True,
        parts=NONE,
        right="DESCRIBE cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "DescribeClientQuotas",
        forwarded=False,
        parts=NONE,
        right="DESCRIBE_CONFIGS cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "AlterClientQuotas",
        forwarded=True,
        parts=NONE,
        right="ALTER_CONFIGS cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "DescribeUserScramCredentials",
        forwarded=False,
        parts=NONE,
        right="DESCRIBE cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "AlterUserScramCredentials",
        forwarded=True,
        parts=NONE,
        right="ALTER cluster",
        part_right=NONE,
        guard=ROW,
        secrets=BODIES,
    ),
    ApiRow(
        "UpdateFeatures", forwarded=True, parts=NONE, right="ALTER cluster", part_right=NONE, guard=ROW, secrets=NONE
    ),
    ApiRow(
        "DescribeCluster",
        forwarded=False,
        parts=NONE,
        right=NONE,
        part_right=NONE,
        guard=HANDLER,
        secrets=NONE,
        controller_right="ALTER cluster",
    ),
    ApiRow(
        "UnregisterBroker", forwarded=True, parts=NONE, right="ALTER cluster", part_right=NONE, guard=ROW, secrets=NONE
    ),
    ApiRow(
        "GetTelemetrySubscriptions",
        forwarded=False,
        parts=NONE,
        right=NONE,
        part_right=NONE,
        guard=NONE,
        secrets=NONE,
        hidden=WITHOUT_TELEMETRY,
    ),
    ApiRow(
        "PushTelemetry",
        forwarded=False,
        parts=NONE,
        right=NONE,
        part_right=NONE,
        guard=NONE,
        secrets=NONE,
        hidden=WITHOUT_TELEMETRY,
    ),
    ApiRow(
        "ListConfigResources",
        forwarded=False,
        parts=NONE,
        right="DESCRIBE_CONFIGS cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "UnregisterController",
        forwarded=True,
        parts=NONE,
        right="ALTER cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
)
