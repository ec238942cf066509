"""Offsets and groups that go: OffsetDelete (KIP-496), DeleteGroups (KIP-229), deleted topics.

What goes is written as tombstones; a group takes its offsets along.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from kafkadouble.messages.uuid import Uuid

from ..coordinator.record import CoordinatorRecord
from ..requests.request import Refusal
from .offset_records import offset_tombstone
from .offsets import Place

if TYPE_CHECKING:
    from .group import Group
    from .shard import GroupShard

Topic = OffsetDeleteRequest.OffsetDeleteRequestTopic
TopicAnswer = OffsetDeleteResponse.OffsetDeleteResponseTopic
PartitionAnswer = OffsetDeleteResponse.OffsetDeleteResponsePartition


def delete_offsets(shard: GroupShard, group_id: str, topics: Sequence[Topic]) -> list[TopicAnswer]:
    """Delete the group's offsets of these partitions, but not of topics that its members read. Raises Refusal."""
    group = _existing(shard, group_id)
    group.check_offset_delete()
    answers, places = [], []
    for topic in topics:
        subscribed = group.subscribes_to(topic.name)
        code = error_codes.GROUP_SUBSCRIBED_TO_TOPIC if subscribed else error_codes.NONE
        indexes = [partition.partition_index for partition in topic.partitions]
        partitions = [PartitionAnswer(partition_index=index, error_code=code) for index in indexes]
        answers.append(TopicAnswer(name=topic.name, partitions=partitions))
        if not subscribed:
            places += [Place(group_id, topic.name, index) for index in indexes]
    present = shard.offsets.places(group_id)
    shard.write([offset_tombstone(place) for place in dict.fromkeys(places) if place in present])
    return answers


def _existing(shard: GroupShard, group_id: str) -> Group:
    group = shard.groups.get(group_id)
    if group is None:
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND)
    return group


def delete_groups(shard: GroupShard, group_ids: Iterable[str]) -> dict[str, int]:
    """Delete the groups that have no members: group id -> error code."""
    codes: dict[str, int] = {}
    records: list[CoordinatorRecord] = []
    for group_id in group_ids:
        try:
            group = _existing(shard, group_id)
            group.check_delete()
        except Refusal as refusal:
            codes[group_id] = refusal.code
            continue
        records += map(offset_tombstone, shard.offsets.places(group_id))
        records += group.tombstones()
        codes[group_id] = error_codes.NONE
    shard.write(records)
    return codes


def forget_topic(shard: GroupShard, name: str, topic_id: Uuid) -> None:
    """A topic was deleted: so are the offsets that were committed for it, though not those for another topic of its name."""
    places = shard.offsets.topic_places(name)
    gone = [place for place, offsets in places.items() if any(offset.is_for(topic_id) for offset in offsets)]
    shard.write_apart([offset_tombstone(place) for place in gone])
