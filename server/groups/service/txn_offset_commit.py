"""TxnOffsetCommit: offsets that a transaction commits. They are pending until its marker is written
(KIP-98, KIP-447).

A commit without a generation creates a group that does not exist; one with a generation is refused.
Clients before version 6 do not know STALE_MEMBER_EPOCH; they get ILLEGAL_GENERATION (KIP-848).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from kafkadouble.messages.uuid import Uuid

from ...coordinator.coordinator_record import CoordinatorRecord
from ...java.strings import java_length
from ...log.producers import VerificationStateEntry
from ...requests.request import Refusal
from ...requests.waiting import OTHERS_FIRST, Slices, Wait
from ..classic.group import ClassicGroup
from ..coordinator_group import CommitPartitionValidator, accept_partition
from ..offset_and_metadata import OffsetAndMetadata
from ..offset_metadata_manager import OffsetKey
from ..offset_records import offset_record

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

RequestTopic = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
ResponseTopic = TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic
ResponsePartition = TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition

GROUP_ID_NOT_FOUND_FROM = STALE_MEMBER_EPOCH_FROM = 6
"""The first version whose clients know these errors."""


def commit_transactional_offsets(
    shard: GroupCoordinatorShard,
    body: TxnOffsetCommitRequest,
    topics: Sequence[RequestTopic],
    version: int,
    verification: VerificationStateEntry | None,
) -> Wait[list[ResponseTopic]]:
    """Writes the offsets of `topics`, which exist and have names and ids. Raises Refusal.

    The records are made in slices, and then checked and written in one step.
    """
    try:
        return (yield from _commit(shard, body, topics, version, verification))
    except Refusal as refusal:
        if refusal.code == error_codes.STALE_MEMBER_EPOCH and version < STALE_MEMBER_EPOCH_FROM:
            raise Refusal(error_codes.ILLEGAL_GENERATION) from refusal
        raise


def _commit(
    shard: GroupCoordinatorShard,
    body: TxnOffsetCommitRequest,
    topics: Sequence[RequestTopic],
    version: int,
    verification: VerificationStateEntry | None,
) -> Wait[list[ResponseTopic]]:
    max_metadata = shard.node.settings.int("offset.metadata.max.bytes")
    keys: list[tuple[OffsetKey, Uuid]] = []
    records: list[CoordinatorRecord] = []
    responses, slices = [], Slices()
    for topic in topics:
        partitions, topic_id = [], Uuid(topic.topic_id)
        for partition in topic.partitions:
            if slices.end():
                yield OTHERS_FIRST
            metadata = partition.committed_metadata or ""
            code = error_codes.OFFSET_METADATA_TOO_LARGE if java_length(metadata) > max_metadata else error_codes.NONE
            partitions.append(ResponsePartition(partition_index=partition.partition_index, error_code=code))
            if not code:
                key = OffsetKey(body.group_id, topic.name, partition.partition_index)
                keys.append((key, topic_id))
                epoch, at = partition.committed_leader_epoch, shard.now
                offset = OffsetAndMetadata(-1, partition.committed_offset, epoch, metadata, at, topic_id=topic_id)
                records.append(offset_record(key, offset))
        responses.append(ResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions))
    encoded = yield from shard.encoded(records)
    validate_partition = _validate(shard, body, version)
    if validate_partition is not accept_partition:
        for key, topic_id in keys:
            validate_partition(key.topic, topic_id, key.partition)
    shard.write_transactional(records, encoded, body.producer_id, body.producer_epoch, verification)
    return responses


def _validate(shard: GroupCoordinatorShard, body: TxnOffsetCommitRequest, version: int) -> CommitPartitionValidator:
    group, generation_id = shard.groups.get(body.group_id), body.generation_id_or_member_epoch
    if group is not None:
        member_id, instance_id = body.member_id, body.group_instance_id
        return group.validate_offset_commit(member_id, instance_id, generation_id, transactional=True, version=version)
    if generation_id >= 0:
        not_found = version >= GROUP_ID_NOT_FOUND_FROM
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND if not_found else error_codes.ILLEGAL_GENERATION)
    shard.groups[body.group_id] = ClassicGroup(shard, body.group_id)
    return accept_partition
