"""Deletes offsets and groups: OffsetDelete (KIP-496), DeleteGroups (KIP-229) and deleted topics.

A deletion is written as tombstones. Deleting a group also deletes its offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from kafkadouble.messages.uuid import Uuid

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.request import Refusal
from ..coordinator_group import SHARE
from ..offset_and_metadata import OffsetAndMetadata
from ..offset_metadata_manager import OffsetKey
from ..offset_records import offset_tombstone

if TYPE_CHECKING:
    from ...metadata.image import TopicImage
    from ..coordinator_group import CoordinatorGroup
    from ..group_coordinator_shard import GroupCoordinatorShard

RequestTopic = OffsetDeleteRequest.OffsetDeleteRequestTopic
ResponseTopic = OffsetDeleteResponse.OffsetDeleteResponseTopic
ResponsePartition = OffsetDeleteResponse.OffsetDeleteResponsePartition


def delete_offsets(shard: GroupCoordinatorShard, group_id: str, topics: Sequence[RequestTopic]) -> list[ResponseTopic]:
    """Deletes the group's offsets of these partitions, but not of subscribed topics.

    Raises Refusal.
    """
    group = _existing(shard, group_id)
    group.validate_offset_delete()
    responses, keys = [], []
    for topic in topics:
        subscribed = group.is_subscribed_to_topic(topic.name)
        code = error_codes.GROUP_SUBSCRIBED_TO_TOPIC if subscribed else error_codes.NONE
        indexes = [partition.partition_index for partition in topic.partitions]
        partitions = [ResponsePartition(partition_index=index, error_code=code) for index in indexes]
        responses.append(ResponseTopic(name=topic.name, partitions=partitions))
        if not subscribed:
            keys += [OffsetKey(group_id, topic.name, index) for index in indexes]
    present = shard.offsets.keys_of_group(group_id)
    shard.write([offset_tombstone(key) for key in dict.fromkeys(keys) if key in present])
    return responses


def _existing(shard: GroupCoordinatorShard, group_id: str) -> CoordinatorGroup:
    group = shard.groups.get(group_id)
    if group is None:
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND)
    return group


def delete_groups(shard: GroupCoordinatorShard, group_ids: Iterable[str]) -> dict[str, int]:
    """Deletes the groups that have no members; returns group id -> error code."""
    codes: dict[str, int] = {}
    records: list[CoordinatorRecord] = []
    for group_id in group_ids:
        group = shard.groups.get(group_id)
        if group is None:
            codes[group_id] = error_codes.GROUP_ID_NOT_FOUND
            continue
        try:
            group.validate_delete_group()
        except Refusal as refusal:
            codes[group_id] = refusal.code
            continue
        records += map(offset_tombstone, shard.offsets.keys_of_group(group_id))
        records += group.tombstones()
        codes[group_id] = error_codes.NONE
    shard.write(records)
    return codes


def delete_topics(shard: GroupCoordinatorShard, topics: Iterable[TopicImage]) -> None:
    """Deletes what the groups have of deleted topics: offsets, and the state of share
    partitions."""
    deleted = list(topics)
    by_topic = shard.offsets.of_topics({topic.name for topic in deleted})
    for topic in deleted:
        _delete_topic_offsets(shard, by_topic[topic.name], topic.id)
    if any(group.type == SHARE for group in shard.groups.values()):
        from ..share.deletion import delete_topics_of_share_groups

        delete_topics_of_share_groups(shard, {topic.id for topic in deleted})


def _delete_topic_offsets(
    shard: GroupCoordinatorShard, by_key: dict[OffsetKey, list[OffsetAndMetadata]], topic_id: Uuid
) -> None:
    """Deletes the offsets of a deleted topic, but not those of another topic with the same name."""
    deleted = [key for key, offsets in by_key.items() if any(offset.is_for(topic_id) for offset in offsets)]
    for key in deleted:
        del by_key[key]
    shard.write_in_batches([offset_tombstone(key) for key in deleted])
