"""Rows about the cluster: its brokers, their APIs, its quorum, features, log directories, leaders
and replicas."""

from __future__ import annotations

import re

from ..parse import apis, columns, everything, objects, pairs, tabbed
from ..row import Row, Scenario, has

CREATE = Row("kafka-topics", "", "--create --topic {topic}", ["Created topic {topic}."])
ELECTION, REASSIGN, QUORUM = "kafka-leader-election", "kafka-reassign-partitions", "kafka-metadata-quorum"
NUMBER = re.compile(r"\d+")

BROKERS = (
    Row(
        "kafka-cluster",
        "cluster-id",
        "cluster-id --bootstrap-server {bootstrap}",
        ["Cluster ID: {cluster}"],
    ),
    Row(
        "kafka-cluster",
        "list-endpoints",
        "list-endpoints --bootstrap-server {bootstrap}",
        has({"ID": "{node}", "HOST": "{host}", "PORT": "{port}", "STATE": "unfenced", "ENDPOINT_TYPE": "broker"}),
        columns,
    ),
    Row(
        "kafka-cluster",
        "unregister",
        "unregister --bootstrap-server {bootstrap} --id 77",
        lambda found: "BrokerIdNotRegisteredException: Broker ID 77 is not currently registered" in found,
        everything,
        code=1,
        needs="UnregisterBroker",
        refusal="The target cluster does not support the broker unregistration API.",
    ),
    Row(
        "kafka-broker-api-versions",
        "list",
        "",
        dict.fromkeys(("Produce", "Fetch", "Metadata", "JoinGroup", "CreateTopics", "ApiVersions"), NUMBER),
        apis,
    ),
    Row(
        "kafka-features",
        "describe",
        "describe",
        has(
            {"Feature": "metadata.version", "SupportedMinVersion": "3.3-IV3"},
            {"Feature": "kraft.version", "FinalizedVersionLevel": NUMBER},
            {"Feature": "eligible.leader.replicas.version", "SupportedMaxVersion": "1"},
        ),
        pairs,
    ),
    Row(
        "kafka-features",
        "upgrade",
        "upgrade --feature eligible.leader.replicas.version=1 --dry-run",
        ["eligible.leader.replicas.version can be upgraded to 1."],
        needs="UpdateFeatures",
    ),
    Row(
        "kafka-features",
        "downgrade",
        "downgrade --metadata 3.3 --dry-run",
        lambda found: "because it might delete metadata information." in found,
        everything,
        code=1,
        needs="UpdateFeatures",
    ),
)

QUORUMS = (
    Row(
        QUORUM,
        "describe the status",
        "describe --status",
        has({"ClusterId": "{cluster}"}, {"LeaderId": NUMBER}, {"HighWatermark": NUMBER}, {"CurrentObservers": "[]"}),
        pairs,
        needs="DescribeQuorum",
    ),
    Row(
        QUORUM,
        "describe the replication",
        "describe --replication",
        has({"NodeId": "{node}", "LogEndOffset": NUMBER, "Lag": "0", "Status": "Leader"}),
        tabbed,
        needs="DescribeQuorum",
    ),
)

FOLDERS = (
    CREATE,
    Row("kafka-console-producer", "", "--topic {topic}", [], stdin="one\n"),
    Row(
        "kafka-log-dirs",
        "describe",
        "--describe --topic-list {topic}",
        [{"version": 1, "brokers": [{"broker": int, "logDirs": [{"error": None, "partitions": [
            {"partition": "{topic}-0", "size": lambda size: size > 60, "offsetLag": 0, "isFuture": False}]}]}]}],
        objects,
        needs="DescribeLogDirs",
    ),
)  # fmt: skip


LEADERS = (
    CREATE,
    Row(
        ELECTION,
        "preferred",
        "--election-type preferred --topic {topic} --partition 0",
        ["Valid replica already elected for partitions {topic}-0"],
        needs="ElectLeaders",
    ),
    Row(
        ELECTION,
        "unclean",
        "--election-type unclean --topic {topic} --partition 0",
        ["Valid replica already elected for partitions {topic}-0"],
        needs="ElectLeaders",
    ),
    Row(ELECTION, "preferred of all", "--election-type preferred --all-topic-partitions", [], needs="ElectLeaders"),
)

PLAN = {"plan.json": '{"version":1,"partitions":[{"topic":"{topic}","partition":0,"replicas":[{node}]}]}'}
TOPICS = {"topics.json": '{"version":1,"topics":[{"topic":"{topic}"}]}'}
REPLICAS = (
    CREATE,
    Row(REASSIGN, "list", "--list", ["No partition reassignments found."], needs="ListPartitionReassignments"),
    Row(
        REASSIGN,
        "generate",
        "--topics-to-move-json-file topics.json --broker-list {node} --generate",
        has({"partitions": [{"topic": "{topic}", "partition": 0}]}),
        objects,
        files=TOPICS,
        needs="DescribeLogDirs",
    ),
    Row(
        REASSIGN,
        "execute",
        "--reassignment-json-file plan.json --execute",
        has("Successfully started partition reassignment for {topic}-0"),
        files=PLAN,
        needs="DescribeLogDirs",
    ),
    Row(
        REASSIGN,
        "verify",
        "--reassignment-json-file plan.json --verify",
        has("Reassignment of partition {topic}-0 is completed."),
        files=PLAN,
        needs="ListPartitionReassignments",
    ),
)

SCENARIOS = (
    Scenario("brokers", BROKERS),
    Scenario("quorum", QUORUMS),
    Scenario("folders", FOLDERS),
    Scenario("leaders", LEADERS),
    Scenario("replicas", REPLICAS),
)
