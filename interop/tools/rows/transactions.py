"""Rows of kafka-transactions, and of other tools that need APIs of their own: ACLs, delegation
tokens, share groups."""

from __future__ import annotations

import re

from ..parse import everything, tabbed
from ..row import Row, Scenario, has, lacks

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

ONGOING = {"TransactionalId": "{topic}", "TransactionState": "Ongoing"}
DESCRIBED = ONGOING | {"CoordinatorId": "{node}", "TransactionTimeoutMs": "60000", "TopicPartitions": "{topic}-0"}
DESCRIBE = "describe --transactional-id {topic}"
PRODUCERS = "describe-producers --topic {topic} --partition 0"
ENDED = "Empty"

OPEN = (
    Row(TOOL, "list an open one", "list", has(ONGOING), tabbed, needs="ListTransactions"),
    Row(TOOL, "list by duration", "list --duration-filter 3600000", lacks(ONGOING), tabbed, needs="ListTransactions"),
    Row(
        TOOL,
        "list by a pattern",
        "list --transactional-id-pattern {topic}.*",
        [ONGOING],
        tabbed,
        needs="ListTransactions",
    ),
    Row(TOOL, "", "list --transactional-id-pattern {topic}.+", [], tabbed, needs="ListTransactions"),
    Row(
        TOOL,
        "list by a pattern that is none (refused)",
        "list --transactional-id-pattern (",
        lambda found: "INVALID_REGULAR_EXPRESSION" in found,
        everything,
        code=1,
        needs="ListTransactions",
    ),
    Row(TOOL, "describe an open one", DESCRIBE, [DESCRIBED], tabbed, needs="DescribeTransactions"),
    Row(
        TOOL,
        "describe an unknown one (refused)",
        f"{DESCRIBE}-no",
        lambda found: "the ID could not be found" in found,
        everything,
        code=1,
        needs="DescribeTransactions",
    ),
    Row(
        TOOL,
        "describe-producers of an open one",
        PRODUCERS,
        [{"ProducerEpoch": "0", "LastSequence": "0", "CurrentTransactionStartOffset": "0"}],
        tabbed,
        needs="EndTxn",
    ),
    # The coordinator knows the transaction, which is therefore not a hanging one.
    Row(TOOL, "", "find-hanging --topic {topic}", [], tabbed, needs="EndTxn"),
    Row(
        TOOL,
        "forceTerminateTransaction",
        "forceTerminateTransaction --transactionalId {topic}",
        [],
        needs="InitProducerId",
    ),
    Row(TOOL, "", DESCRIBE, [{"TransactionState": ENDED}], tabbed, needs="DescribeTransactions"),
    Row(
        TOOL,
        "",
        PRODUCERS,
        [{"LastSequence": "-1", "CurrentTransactionStartOffset": "None"}],
        tabbed,
        needs="EndTxn",
    ),
)

ABORTING = (
    Row(TOOL, "abort", "abort --topic {topic} --partition 0 --start-offset 0", [], needs="WriteTxnMarkers"),
    Row(TOOL, "", PRODUCERS, [{"ProducerEpoch": "0", "CurrentTransactionStartOffset": "None"}], tabbed, needs="EndTxn"),
    # The coordinator was not asked.
    Row(TOOL, "", DESCRIBE, [DESCRIBED], tabbed, needs="DescribeTransactions"),
    Row(
        TOOL,
        "abort where none begins (refused)",
        "abort --topic {topic} --partition 0 --start-offset 0",
        lambda found: "Could not find any open transactions starting at offset 0" in found,
        everything,
        code=1,
        needs="WriteTxnMarkers",
    ),
)  # fmt: skip

FIND = "find-hanging --topic {topic}"
HANGING = (
    Row(TOOL, "", PRODUCERS, [{"LastSequence": "0", "CurrentTransactionStartOffset": "0"}], tabbed, needs="EndTxn"),
    Row(
        TOOL,
        "find-hanging with one",
        FIND,
        [{"Topic": "{topic}", "Partition": "0", "ProducerEpoch": "0", "StartOffset": "0", "Duration(min)": "60"}],
        tabbed,
        needs="EndTxn",
    ),
    Row(TOOL, "", f"{FIND} --max-transaction-timeout 100", [], tabbed, needs="EndTxn"),
    Row(
        TOOL,
        "abort of a hanging one",
        "abort --topic {topic} --partition 0 --start-offset 0",
        [],
        needs="WriteTxnMarkers",
    ),
    Row(TOOL, "", FIND, [], tabbed, needs="EndTxn"),
)

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
        needs="ShareFetch",
    ),
    Row(
        "kafka-share-groups",
        "describe",
        "--describe --group {group}",
        has(re.compile(r"\S+ +\S+ +0 .*")),
        needs="ShareFetch",
    ),
)

OFFSETS_OF_SHARE_GROUPS = (
    CREATE,
    Row("kafka-console-producer", "", "--topic {topic}", [], stdin="one\ntwo\n"),
    Row(
        "kafka-share-groups",
        "reset to-earliest of a new group",
        "--reset-offsets --group {group} --topic {topic} --to-earliest --execute",
        has(re.compile(r"\S+ +\S+ +0 +0 *")),
    ),
    Row("kafka-share-groups", "list of a state", "--list --state Empty", has(re.compile(r"\S+ +Empty *"))),
    Row(
        "kafka-share-groups",
        "describe the lag",
        "--describe --group {group}",
        has(re.compile(r"\S+ +\S+ +0 +0 +2 *")),
    ),
    Row(
        "kafka-share-groups", "describe state", "--describe --group {group} --state", has(re.compile(r".* Empty +0 *"))
    ),
    Row(
        "kafka-share-groups",
        "reset to-latest",
        "--reset-offsets --group {group} --topic {topic} --to-latest --execute",
        has(re.compile(r"\S+ +\S+ +0 +2 *")),
    ),
    Row(
        "kafka-share-groups",
        "delete-offsets",
        "--delete-offsets --group {group} --topic {topic}",
        has(re.compile(r"\S+ +Successful *")),
    ),
    Row("kafka-share-groups", "delete", "--delete --group {group}", [re.compile(r"Deletion of .* was successful\.")]),
)

SCENARIOS = (
    Scenario("transactions", TRANSACTIONS),
    Scenario("an open transaction", OPEN, transaction="open"),
    Scenario("abort of a transaction", ABORTING, transaction="open"),
    Scenario("a hanging transaction", HANGING, own=True, transaction="hanging"),
    Scenario("security", SECURITY),
    Scenario("share groups", SHARING),
    Scenario("offsets of share groups", OFFSETS_OF_SHARE_GROUPS),
)
