"""The APIs that write, read and find records. The columns are those of `row`."""

from __future__ import annotations

from .row import BOTH, HANDLER, NONE, QUORUM, ROW, ApiRow

TOPICS_AND_PARTITIONS = "topic:topics/topics partition:partitions/partitions"
TOPICS = "topic:topics/topics"

ROWS = (
    ApiRow(
        "Produce",
        forwarded=False,
        parts="topic:topic_data/responses partition:partition_data/partition_responses",
        right=NONE,
        part_right="WRITE topic",
        guard=BOTH,
        secrets=NONE,
        advertised_from=0,
        reason="librdkafka before 2.8 takes a broker that does not list version 0 for one that cannot compress (KAFKA-18659)",
    ),
    ApiRow(
        "Fetch",
        forwarded=False,
        parts="topic:topics/responses partition:partitions/partitions",
        right=NONE,
        part_right="READ topic",
        guard=HANDLER,
        secrets=NONE,
        controller_right="CLUSTER_ACTION cluster",
        controller_module=QUORUM,
    ),
    ApiRow(
        "ListOffsets",
        forwarded=False,
        parts=TOPICS_AND_PARTITIONS,
        right=NONE,
        part_right="DESCRIBE topic",
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "Metadata", forwarded=False, parts=TOPICS, right=NONE, part_right="DESCRIBE topic", guard=HANDLER, secrets=NONE
    ),
    ApiRow(
        "DeleteRecords",
        forwarded=False,
        parts=TOPICS_AND_PARTITIONS,
        right=NONE,
        part_right="DELETE topic",
        guard=ROW,
        secrets=NONE,
    ),
    ApiRow(
        "InitProducerId",
        forwarded=False,
        parts=NONE,
        right="IDEMPOTENT_WRITE cluster",
        part_right=NONE,
        guard=HANDLER,
        secrets=NONE,
    ),
    ApiRow(
        "OffsetForLeaderEpoch",
        forwarded=False,
        parts=TOPICS_AND_PARTITIONS,
        right="CLUSTER_ACTION cluster",
        part_right="DESCRIBE topic",
        guard=ROW,
        right_or_parts=True,
        secrets=NONE,
    ),
    ApiRow(
        "DescribeProducers",
        forwarded=False,
        parts="topic:topics/topics partition:partition_indexes/partitions",
        right=NONE,
        part_right="READ topic",
        guard=HANDLER,
        secrets=NONE,
    ),
    ApiRow(
        "DescribeTopicPartitions",
        forwarded=False,
        parts=TOPICS,
        right=NONE,
        part_right="DESCRIBE topic",
        guard=HANDLER,
        secrets=NONE,
    ),
)
