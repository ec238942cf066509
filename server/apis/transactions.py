"""The APIs of transactions. The columns are those of `row`."""

from __future__ import annotations

from .row import BOTH, FIRST, HANDLER, IN_ORDER, NONE, ROW, ApiRow

ROWS = (
    ApiRow(
        "AddPartitionsToTxn",
        forwarded=False,
        parts=(
            "transactional_id:transactions/results_by_transaction topic:topics/topic_results "
            "partition:partitions/results_by_partition",
            "topic:v3_and_below_topics/results_by_topic_v3_and_below partition:partitions/results_by_partition",
        ),
        right="WRITE transactional_id",
        part_right="WRITE topic",
        guard=HANDLER,
        secrets=NONE,
    ),
    ApiRow(
        "AddOffsetsToTxn",
        forwarded=False,
        parts=NONE,
        right="WRITE transactional_id + READ group",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "EndTxn",
        forwarded=False,
        parts=NONE,
        right="WRITE transactional_id",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "TxnOffsetCommit",
        forwarded=False,
        parts="topic:topics/topics partition:partitions/partitions",
        right="WRITE transactional_id + READ group",
        part_right="READ topic",
        guard=ROW,
        secrets=NONE,
        refused_parts=FIRST,
    ),
    ApiRow(
        "WriteTxnMarkers",
        forwarded=False,
        parts="marker:markers/markers topic:topics/topics partition:partition_indexes/partitions",
        right="ALTER|CLUSTER_ACTION cluster",
        part_right=NONE,
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "DescribeTransactions",
        forwarded=False,
        parts="transactional_id:transactional_ids/transaction_states",
        right=NONE,
        part_right="DESCRIBE transactional_id",
        guard=BOTH,
        secrets=NONE,
        refused_parts=IN_ORDER,
    ),
    ApiRow(
        "ListTransactions",
        forwarded=False,
        parts=NONE,
        right=NONE,
        part_right="DESCRIBE transactional_id",
        guard=HANDLER,
        secrets=NONE,
    ),
)
