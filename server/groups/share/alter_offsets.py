"""AlterShareGroupOffsets: sets the start offsets of a share group without members (KIP-932).

The state of the share partitions begins again with the new start offsets. The state epoch is the
group epoch, so what leaders still write with an older one is fenced. The group is created if it
does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
)
from kafkadouble.messages.uuid import Uuid

from ...metadata.image import TopicImage
from ...requests.request import Refusal
from ...requests.waiting import OTHERS_FIRST, Slices, Wait
from . import records
from .initialization import Initialization, finish, send
from .share_group import share_group_or_new
from .state_partition_metadata import InitMapValue, StatePartitionMetadata

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard
    from .persister_calls import StateError

RequestTopic = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic
RequestPartition = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestPartition
ResponseTopic = AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponseTopic
ResponsePartition = AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponsePartition

Topics = Mapping[str, tuple[TopicImage, list[RequestPartition]]]
"""The topics of a request that exist, by name."""


def alter_offsets(shard: GroupCoordinatorShard, group_id: str, topics: Topics) -> Wait[list[ResponseTopic]]:
    """Sets the start offsets of the partitions that exist. Raises Refusal."""
    existing, slices = dict[str, dict[int, int]](), Slices()
    for name, (topic, partitions) in topics.items():
        existing[name] = _existing(topic, partitions)
        if slices.end(1 + len(partitions)):
            yield OTHERS_FIRST
    # Without a pause up to the write: a member could join.
    group = share_group_or_new(shard, group_id, create=True)
    if group.members:
        raise Refusal(error_codes.NON_EMPTY_GROUP)
    if any(index < 0 for offsets in existing.values() for index in offsets):
        # Kafka fails, too, after it has noted the partition, and then cannot delete the group.
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    _note(shard, group_id, group.state_partition_metadata, topics, existing)
    yield from shard.wait_for_commit(None)
    initializations = [
        Initialization(topic.id, index, group.group_epoch, offset)
        for name, (topic, _) in topics.items()
        for index, offset in existing[name].items()
    ]
    results = yield from send(shard, group_id, initializations).wait()
    if results and not any(error.code for error in results.values()):
        finish(shard, group_id, results)
    by_partition = {(key.topic_id, key.partition): error for key, error in results.items()}
    altered = []
    for name, (topic, partitions) in topics.items():
        answers = [_result(topic.id, each, by_partition) for each in partitions]
        altered.append(ResponseTopic(topic_name=name, topic_id=topic.id, partitions=answers))
        if slices.end(1 + len(answers)):
            yield OTHERS_FIRST
    return altered


def _existing(topic: TopicImage, partitions: Iterable[RequestPartition]) -> dict[int, int]:
    """Returns the start offsets by partition."""
    count = len(topic.partitions)
    return {each.partition_index: each.start_offset for each in partitions if each.partition_index < count}


def _note(
    shard: GroupCoordinatorShard,
    group_id: str,
    metadata: StatePartitionMetadata | None,
    topics: Topics,
    existing: Mapping[str, Mapping[int, int]],
) -> None:
    """Writes that the partitions are initializing."""
    initializing = {
        topic.id: InitMapValue(name, frozenset(existing[name]), shard.now) for name, (topic, _) in topics.items()
    }
    if initializing:
        after = (metadata or StatePartitionMetadata()).with_initializing(initializing)
        shard.write([records.state_partition_metadata_record(group_id, after, shard.node.image)])


def _result(
    topic_id: Uuid, requested: RequestPartition, errors: Mapping[tuple[Uuid, int], StateError]
) -> ResponsePartition:
    index = requested.partition_index
    error = errors.get((topic_id, index))
    if error is None:
        return failed_partition(index, error_codes.UNKNOWN_TOPIC_OR_PARTITION)
    return ResponsePartition(partition_index=index, error_code=error.code, error_message=error.message)


def failed_partition(index: int, code: int) -> ResponsePartition:
    return ResponsePartition(partition_index=index, error_code=code, error_message=error_codes.meaning(code))
