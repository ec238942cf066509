"""OffsetCommit: which commits are accepted, and their records.

A commit without a generation comes from a consumer that assigns its partitions itself, or from an
admin client. It creates the group if the group does not exist. A commit with a generation to an
unknown group is GROUP_ID_NOT_FOUND from version 9 on, and ILLEGAL_GENERATION before (KIP-848).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafkadouble.messages.uuid import Uuid

from ...coordinator.coordinator_record import CoordinatorRecord
from ...java.strings import java_length
from ...requests.request import Refusal
from ...requests.waiting import OTHERS_FIRST, SLICE, Slices, Wait
from ..classic.group import ClassicGroup
from ..coordinator_group import CommitPartitionValidator, accept_partition
from ..offset_and_metadata import OffsetAndMetadata
from ..offset_metadata_manager import OffsetKey
from ..offset_records import offset_record

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

RequestTopic = OffsetCommitRequest.OffsetCommitRequestTopic
ResponseTopic = OffsetCommitResponse.OffsetCommitResponseTopic
ResponsePartition = OffsetCommitResponse.OffsetCommitResponsePartition

DEFAULT_RETENTION = NEVER = -1
GROUP_ID_NOT_FOUND_FROM = 9


def commit_offsets(
    shard: GroupCoordinatorShard, body: OffsetCommitRequest, topics: Sequence[RequestTopic], version: int
) -> Wait[list[ResponseTopic]]:
    """Commits the offsets of `topics`, which exist and have names and ids. Raises Refusal.

    The records are made in slices, and then checked and written in one step.
    """
    retention_ms = body.retention_time_ms
    expires = retention_ms != DEFAULT_RETENTION
    # Java's addition: a sum above 2^63 - 1 is negative, so it expires.
    expire_timestamp = (shard.now + retention_ms + 2**63) % 2**64 - 2**63 if expires else NEVER
    made = yield from make_records(shard, body.group_id, topics, (ResponseTopic, ResponsePartition), expire_timestamp)
    encoded = (yield from shard.encoded(made.records)) if len(made.records) > SLICE else None
    made.validate(
        validate_commit(shard, body, version, transactional=False, group_id_not_found_from=GROUP_ID_NOT_FOUND_FROM)
    )
    shard.write(made.records, encoded)
    return made.responses


class CommitRecords(NamedTuple):
    """The partitions whose offsets are committed, the records, and the response of each topic."""

    keys: list[tuple[OffsetKey, Uuid]]
    records: list[CoordinatorRecord]
    responses: list[Any]

    def validate(self, validate_partition: CommitPartitionValidator) -> None:
        """Checks each partition. Raises Refusal."""
        if validate_partition is not accept_partition:
            for key, topic_id in self.keys:
                validate_partition(key.topic, topic_id, key.partition)


def make_records(
    shard: GroupCoordinatorShard,
    group_id: str,
    topics: Sequence[Any],
    response: tuple[Any, Any],
    expire_timestamp: int = NEVER,
) -> Wait[CommitRecords]:
    """Makes the records of the offsets in slices. `response` has the classes of the response of a
    topic and of a partition. Metadata that is too large fails its partition."""
    of_topic, of_partition = response
    max_metadata = shard.node.settings.int("offset.metadata.max.bytes")
    made, slices = CommitRecords([], [], []), Slices()
    for topic in topics:
        partitions, topic_id = [], Uuid(topic.topic_id)
        for partition in topic.partitions:
            if slices.end():
                yield OTHERS_FIRST
            metadata = partition.committed_metadata or ""
            code = error_codes.OFFSET_METADATA_TOO_LARGE if java_length(metadata) > max_metadata else error_codes.NONE
            partitions.append(of_partition(partition_index=partition.partition_index, error_code=code))
            if not code:
                key = OffsetKey(group_id, topic.name, partition.partition_index)
                made.keys.append((key, topic_id))
                offset, epoch = partition.committed_offset, partition.committed_leader_epoch
                value = OffsetAndMetadata(-1, offset, epoch, metadata, shard.now, expire_timestamp, topic_id)
                made.records.append(offset_record(key, value))
        made.responses.append(of_topic(name=topic.name, topic_id=topic.topic_id, partitions=partitions))
    return made


def validate_commit(
    shard: GroupCoordinatorShard, body: Any, version: int, *, transactional: bool, group_id_not_found_from: int
) -> CommitPartitionValidator:
    """Checks that the member may commit; returns the check of each partition. Raises Refusal."""
    group, generation_id = shard.groups.get(body.group_id), body.generation_id_or_member_epoch
    if group is not None:
        validator = group.validate_offset_commit(
            body.member_id, body.group_instance_id, generation_id, transactional=transactional, version=version
        )
        if not transactional:
            group.on_offset_commit(body.member_id)
        return validator
    if generation_id >= 0:
        not_found = version >= group_id_not_found_from
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND if not_found else error_codes.ILLEGAL_GENERATION)
    # As in Kafka, also if every offset is refused.
    shard.groups[body.group_id] = ClassicGroup(shard, body.group_id)
    return accept_partition
