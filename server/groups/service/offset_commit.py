"""OffsetCommit: which commits are accepted, and their records.

A commit without a generation comes from a consumer that assigns its partitions itself, or from an
admin client. It creates the group if the group does not exist. A commit with a generation to an
unknown group is GROUP_ID_NOT_FOUND from version 9 on, and ILLEGAL_GENERATION before (KIP-848).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
RequestPartition = OffsetCommitRequest.OffsetCommitRequestPartition
ResponseTopic = OffsetCommitResponse.OffsetCommitResponseTopic
ResponsePartition = OffsetCommitResponse.OffsetCommitResponsePartition

DEFAULT_RETENTION = -1
GROUP_ID_NOT_FOUND_FROM = 9


def commit_offsets(
    shard: GroupCoordinatorShard, body: OffsetCommitRequest, topics: Sequence[RequestTopic], version: int
) -> Wait[list[ResponseTopic]]:
    """Commits the offsets of `topics`, which exist and have names and ids. Raises Refusal.

    The records are made in slices, and then checked and written in one step.
    """
    max_metadata = shard.node.settings.int("offset.metadata.max.bytes")
    retention_ms = body.retention_time_ms
    expires = retention_ms != DEFAULT_RETENTION
    expire_timestamp = _wrap_to_long(shard.now + retention_ms) if expires else -1
    keys: list[tuple[OffsetKey, Uuid]] = []
    records: list[CoordinatorRecord] = []
    responses, slices = [], Slices()
    for topic in topics:
        partitions, topic_id = [], Uuid(topic.topic_id)
        for partition in topic.partitions:
            if slices.end():
                yield OTHERS_FIRST
            code = _error_of(partition, max_metadata)
            partitions.append(ResponsePartition(partition_index=partition.partition_index, error_code=code))
            if not code:
                key = OffsetKey(body.group_id, topic.name, partition.partition_index)
                keys.append((key, topic_id))
                offset = _offset_and_metadata(topic, partition, shard.now, expire_timestamp)
                records.append(offset_record(key, offset))
        responses.append(ResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions))
    encoded = (yield from shard.encoded(records)) if len(records) > SLICE else None
    validate_partition = _validate(shard, body, version)
    if validate_partition is not accept_partition:
        for key, topic_id in keys:
            validate_partition(key.topic, topic_id, key.partition)
    shard.write(records, encoded)
    return responses


def _wrap_to_long(number: int) -> int:
    """Returns the result of Java's addition: a sum above 2^63 - 1 is negative, so it expires."""
    return (number + 2**63) % 2**64 - 2**63


def _validate(shard: GroupCoordinatorShard, body: OffsetCommitRequest, version: int) -> CommitPartitionValidator:
    group, generation_id = shard.groups.get(body.group_id), body.generation_id_or_member_epoch
    if group is not None:
        member_id, instance_id = body.member_id, body.group_instance_id
        validator = group.validate_offset_commit(
            member_id, instance_id, generation_id, transactional=False, version=version
        )
        group.on_offset_commit(member_id)
        return validator
    if generation_id >= 0:
        not_found = version >= GROUP_ID_NOT_FOUND_FROM
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND if not_found else error_codes.ILLEGAL_GENERATION)
    # As in Kafka, also if every offset is refused.
    shard.groups[body.group_id] = ClassicGroup(shard, body.group_id)
    return accept_partition


def _error_of(partition: RequestPartition, max_metadata: int) -> int:
    metadata = partition.committed_metadata
    too_large = metadata is not None and java_length(metadata) > max_metadata
    return error_codes.OFFSET_METADATA_TOO_LARGE if too_large else error_codes.NONE


def _offset_and_metadata(
    topic: RequestTopic, partition: RequestPartition, now: int, expire_timestamp: int
) -> OffsetAndMetadata:
    return OffsetAndMetadata(
        -1,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
        now,
        expire_timestamp,
        Uuid(topic.topic_id),
    )
