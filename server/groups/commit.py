"""OffsetCommit: which commits are taken, and the records that they are.

A group that nobody has heard of comes into being when somebody commits without a generation (a consumer that manages its partitions itself,
or an admin client); with one it is unknown. The error of a version 9 client is GROUP_ID_NOT_FOUND, before that ILLEGAL_GENERATION (KIP-848).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafkadouble.messages.uuid import Uuid

from ..coordinator.java_text import java_length
from ..coordinator.record import CoordinatorRecord
from ..requests.request import Refusal
from .classic.group import ClassicGroup
from .committed import Committed
from .offset_records import offset_record
from .offsets import Place

if TYPE_CHECKING:
    from .shard import GroupShard

Topic = OffsetCommitRequest.OffsetCommitRequestTopic
Partition = OffsetCommitRequest.OffsetCommitRequestPartition
TopicAnswer = OffsetCommitResponse.OffsetCommitResponseTopic
PartitionAnswer = OffsetCommitResponse.OffsetCommitResponsePartition

DEFAULT_RETENTION = -1
GROUP_ID_NOT_FOUND_FROM = 9


def commit(shard: GroupShard, body: OffsetCommitRequest, topics: Sequence[Topic], version: int) -> list[TopicAnswer]:
    """Commit the offsets of `topics`, which exist and have both their names and their ids. Raises Refusal."""
    _check(shard, body, version)
    longest = shard.node.settings.int("offset.metadata.max.bytes")
    retention = body.retention_time_ms
    expires_at = -1 if retention == DEFAULT_RETENTION else _as_long(shard.now + retention)
    records: list[CoordinatorRecord] = []
    answers = []
    for topic in topics:
        partitions = []
        for partition in topic.partitions:
            code = _refused(partition, longest)
            partitions.append(PartitionAnswer(partition_index=partition.partition_index, error_code=code))
            if not code:
                place = Place(body.group_id, topic.name, partition.partition_index)
                records.append(offset_record(place, _committed(topic, partition, shard.now, expires_at)))
        answers.append(TopicAnswer(name=topic.name, topic_id=topic.topic_id, partitions=partitions))
    shard.write(records)
    return answers


def _as_long(number: int) -> int:
    """What Java's addition makes of it: past 2^63 - 1 it begins anew at -2^63, so that an endless retention is over at once."""
    return (number + 2**63) % 2**64 - 2**63


def _check(shard: GroupShard, body: OffsetCommitRequest, version: int) -> None:
    group, generation = shard.groups.get(body.group_id), body.generation_id_or_member_epoch
    if group is not None:
        group.check_commit(body.member_id, body.group_instance_id, generation, transactional=False)
        group.committed_by(body.member_id)
    elif generation >= 0:
        known_as = version >= GROUP_ID_NOT_FOUND_FROM
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND if known_as else error_codes.ILLEGAL_GENERATION)
    else:
        shard.groups[body.group_id] = ClassicGroup(shard, body.group_id)  # even if no offset is good, as in Kafka


def _refused(partition: Partition, longest: int) -> int:
    metadata = partition.committed_metadata
    too_long = metadata is not None and java_length(metadata) > longest
    return error_codes.OFFSET_METADATA_TOO_LARGE if too_long else error_codes.NONE


def _committed(topic: Topic, partition: Partition, now: int, expires_at: int) -> Committed:
    return Committed(
        -1,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
        now,
        expires_at,
        Uuid(topic.topic_id),
    )
