"""OffsetFetch: the committed offsets of a group. An unknown group has none, which is no error.

With `require_stable`, an offset that an open transaction may change is UNSTABLE_OFFSET_COMMIT
(KIP-447). If the request gives a topic id (KIP-848), an offset of another topic with the same name
does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafkadouble.messages.uuid import Uuid

from ...requests.repeats import Repeats
from ...requests.waiting import OTHERS_FIRST, Slices, Wait
from ..offset_and_metadata import OffsetAndMetadata
from ..offset_metadata_manager import OffsetKey

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

RequestTopic = OffsetFetchRequest.OffsetFetchRequestTopics
ResponseTopic = OffsetFetchResponse.OffsetFetchResponseTopics
ResponsePartition = OffsetFetchResponse.OffsetFetchResponsePartitions

NO_OFFSET = -1


def fetch_offsets(
    shard: GroupCoordinatorShard,
    group_id: str,
    topics: Sequence[RequestTopic],
    require_stable: bool,
    repeats: Repeats[Any],
) -> Wait[list[ResponseTopic]]:
    """Returns the offsets of these partitions, in slices. The topics have their names."""
    found, slices = [], Slices()
    for topic in topics:
        partitions = []
        for index in topic.partition_indexes:
            if slices.end():
                yield OTHERS_FIRST
            key = OffsetKey(group_id, topic.name, index)
            partitions.append(_fetch(shard, key, topic, require_stable, repeats))
        found.append(ResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions))
        if slices.end():
            yield OTHERS_FIRST
    return found


def _fetch(
    shard: GroupCoordinatorShard, key: OffsetKey, topic: RequestTopic, require_stable: bool, repeats: Repeats[Any]
) -> ResponsePartition:
    found = repeats.answer((key, topic.topic_id), lambda: _stable(shard, key, topic, require_stable))
    return no_offset(key.partition, error_codes.INVALID_REQUEST) if found is None else found


def _stable(
    shard: GroupCoordinatorShard, key: OffsetKey, topic: RequestTopic, require_stable: bool
) -> ResponsePartition:
    offset = shard.offsets.stable.get(key)
    if offset is not None and not offset.is_for(Uuid(topic.topic_id)):
        offset = None
    return _partition(shard, key, offset, require_stable)


def fetch_all_offsets(shard: GroupCoordinatorShard, group_id: str, require_stable: bool) -> Wait[list[ResponseTopic]]:
    """Returns all offsets of the group, in slices: of the partitions that have one now."""
    found, slices = [], Slices()
    present = shard.offsets.stable.of_group(group_id)
    for topic, indexes in [(topic, [*partitions]) for topic, partitions in present.items()]:
        partitions = []
        for index in indexes:
            if slices.end():
                yield OTHERS_FIRST
            key = OffsetKey(group_id, topic, index)
            partitions.append(_partition(shard, key, shard.offsets.stable.get(key), require_stable))
        found.append(ResponseTopic(name=topic, partitions=partitions))
    return found


def _partition(
    shard: GroupCoordinatorShard, key: OffsetKey, offset: OffsetAndMetadata | None, require_stable: bool
) -> ResponsePartition:
    if require_stable and shard.offsets.is_pending(key):
        return no_offset(key.partition, error_codes.UNSTABLE_OFFSET_COMMIT)
    if offset is None:
        return no_offset(key.partition)
    return ResponsePartition(
        partition_index=key.partition,
        committed_offset=offset.committed_offset,
        committed_leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
    )


def no_offset(index: int, code: int = error_codes.NONE) -> ResponsePartition:
    """Returns the response for a partition without a committed offset, or with an error."""
    return ResponsePartition(partition_index=index, committed_offset=NO_OFFSET, metadata="", error_code=code)
