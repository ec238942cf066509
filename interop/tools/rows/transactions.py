"""Rows of kafka-transactions, and of other tools that need APIs of their own: ACLs, delegation
tokens, share groups."""

from __future__ import annotations

import re

from ..parse import everything, tabbed
from ..row import Row, Scenario, has

TOOL = "kafka-transactions"
COMMITTED = re.compile("(Prepare|Complete)Commit")
"""The coordinator answers before it has written its markers."""
CREATE = Row("kafka-topics", "", "--create --topic {topic}", ["Created topic {topic}."])

TRANSACTIONS = (
    CREATE,
    Row("kafka-console-producer", "", "--topic {topic}", [], stdin="one\n"),
    Row(
        TOOL,
        "describe-producers",
        "describe-producers --topic {topic} --partition 0",
        [{"ProducerId": re.compile(r"\d+"), "ProducerEpoch": "0", "LastSequence": "0", "CurrentTransactionStartOffset": "None"}],
        tabbed,
    ),
    Row(TOOL, "find-hanging", "find-hanging --topic {topic}", [], tabbed),
    Row(
        "kafka-producer-perf-test",
        "in transactions",
        "--topic {topic} --num-records 10 --record-size 10 --throughput -1 --transactional-id {topic} "
        "--command-property bootstrap.servers={bootstrap}",
        has(re.compile(r"10 records sent, .*")),
        needs="EndTxn",
        refusal="TransactionalIdAuthorizationException",
    ),
    Row(TOOL, "list", "list", has({"TransactionalId": "{topic}", "TransactionState": COMMITTED}), tabbed, needs="ListTransactions"),
    Row(
        TOOL,
        "describe",
        "describe --transactional-id {topic}",
        [{"TransactionalId": "{topic}", "TransactionState": COMMITTED}],
        tabbed,
        needs="DescribeTransactions",
    ),
)  # fmt: skip

DISABLED = "SecurityDisabledException: No Authorizer is configured on the broker"
SECURITY = (
    Row(
        "kafka-acls",
        "list",
        "--list",
        lambda found: DISABLED in found,
        everything,
        code=1,
        needs="DescribeAcls",
    ),
    Row(
        "kafka-acls",
        "add",
        "--add --allow-principal User:alice --operation read --topic {topic} --force",
        lambda found: DISABLED in found,
        everything,
        code=1,
        needs="CreateAcls",
        refusal="The node does not support DESCRIBE_ACLS",
    ),
    Row(
        "kafka-delegation-tokens",
        "describe",
        "--describe --command-config empty.properties",
        lambda found: "UnsupportedByAuthenticationException" in found,
        everything,
        code=1,
        files={"empty.properties": ""},
        needs="DescribeDelegationToken",
    ),
)

SHARING = (
    CREATE,
    Row("kafka-console-producer", "", "--topic {topic}", [], stdin="one\ntwo\n"),
    Row(
        "kafka-configs",
        "",
        "--entity-type groups --entity-name {group} --alter --add-config share.auto.offset.reset=earliest",
        ["Completed updating config for group {group}."],
    ),
    Row(
        "kafka-console-share-consumer",
        "two records",
        "--topic {topic} --group {group} --max-messages 2 --timeout-ms 8000",
        ["one", "two"],
        needs="ShareGroupHeartbeat",
    ),
    Row(
        "kafka-share-groups",
        "describe",
        "--describe --group {group}",
        has(re.compile(r"\S+ +\S+ +0 .*")),
        needs="ShareGroupDescribe",
    ),
)

SCENARIOS = (
    Scenario("transactions", TRANSACTIONS),
    Scenario("security", SECURITY),
    Scenario("share groups", SHARING),
)
