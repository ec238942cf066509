"""OffsetFetch: what a group has committed. A group that nobody has heard of has committed nothing, which is no error.

With `require_stable` an offset that an open transaction may change is UNSTABLE_OFFSET_COMMIT (KIP-447). An offset that was committed for
another incarnation of the topic is none, if the client says which one it means (KIP-848's topic ids).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafkadouble.messages.uuid import Uuid

from ..requests.repeats import Repeats
from .committed import Committed
from .offsets import Place

if TYPE_CHECKING:
    from .shard import GroupShard

Topic = OffsetFetchRequest.OffsetFetchRequestTopics
TopicAnswer = OffsetFetchResponse.OffsetFetchResponseTopics
PartitionAnswer = OffsetFetchResponse.OffsetFetchResponsePartitions

NO_OFFSET = -1


def fetch(
    shard: GroupShard, group: str, topics: Sequence[Topic], require_stable: bool, repeats: Repeats
) -> list[TopicAnswer]:
    """The offsets of these partitions; the topics have their names."""
    return [
        TopicAnswer(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                _fetch(shard, Place(group, topic.name, index), topic, require_stable, repeats)
                for index in topic.partition_indexes
            ],
        )
        for topic in topics
    ]


def _fetch(shard: GroupShard, place: Place, topic: Topic, require_stable: bool, repeats: Repeats) -> PartitionAnswer:
    if not repeats.may(place):
        return no_offset(place.partition, error_codes.INVALID_REQUEST)
    offset = shard.offsets.stable.get(place)
    if offset is not None and not offset.is_for(Uuid(topic.topic_id)):
        offset = None
    return _answer(shard, place, offset, require_stable)


def fetch_all(shard: GroupShard, group: str, require_stable: bool) -> list[TopicAnswer]:
    """All offsets of the group."""
    return [
        TopicAnswer(
            name=topic,
            partitions=[
                _answer(shard, Place(group, topic, index), offset, require_stable)
                for index, offset in partitions.items()
            ],
        )
        for topic, partitions in shard.offsets.stable.of_group(group).items()
    ]


def _answer(shard: GroupShard, place: Place, offset: Committed | None, require_stable: bool) -> PartitionAnswer:
    if require_stable and shard.offsets.is_pending(place):
        return no_offset(place.partition, error_codes.UNSTABLE_OFFSET_COMMIT)
    if offset is None:
        return no_offset(place.partition)
    return PartitionAnswer(
        partition_index=place.partition,
        committed_offset=offset.offset,
        committed_leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
    )


def no_offset(index: int, code: int = error_codes.NONE) -> PartitionAnswer:
    """Nothing was committed, or it cannot be told."""
    return PartitionAnswer(partition_index=index, committed_offset=NO_OFFSET, metadata="", error_code=code)
