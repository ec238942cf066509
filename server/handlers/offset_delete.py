"""OffsetDelete: forget what a group has committed for some partitions (KIP-496).

NON_EMPTY_GROUP and GROUP_ID_NOT_FOUND concern the whole request; GROUP_SUBSCRIBED_TO_TOPIC a topic that the members of a consumer group read,
UNKNOWN_TOPIC_OR_PARTITION one that does not exist. Answered when it is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from kafkadouble.messages.uuid import Uuid

from ..groups.deletion import delete_offsets
from ..groups.known_topics import known_topic
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

Topic = OffsetDeleteRequest.OffsetDeleteRequestTopic
TopicAnswer = OffsetDeleteResponse.OffsetDeleteResponseTopic
PartitionAnswer = OffsetDeleteResponse.OffsetDeleteResponsePartition


def answer(node: Node, request: Request[OffsetDeleteRequest]) -> OffsetDeleteResponse | Wait[OffsetDeleteResponse]:
    shard = node.groups.shard_of_named(request.body.group_id)
    refused: dict[str, list[PartitionAnswer]] = {}
    known = []
    for topic in request.body.topics:
        indexes = [partition.partition_index for partition in topic.partitions]
        found = known_topic(node.controller.image, topic.name, Uuid.ZERO, False, indexes)
        unknown = [index for index in indexes if found.code or index in found.unknown]
        if unknown:
            refused.setdefault(topic.name, []).extend(map(_unknown, unknown))
        if len(unknown) < len(indexes):
            good = [partition for partition in topic.partitions if partition.partition_index not in found.unknown]
            known.append(Topic(name=topic.name, partitions=good))
    for answered in delete_offsets(shard, request.body.group_id, known):
        refused.setdefault(answered.name, []).extend(answered.partitions)
    topics = [TopicAnswer(name=name, partitions=partitions) for name, partitions in refused.items()]
    return shard.settled(OffsetDeleteResponse(topics=topics))


def _unknown(index: int) -> PartitionAnswer:
    return PartitionAnswer(partition_index=index, error_code=error_codes.UNKNOWN_TOPIC_OR_PARTITION)


def refuse(request: Request[OffsetDeleteRequest], code: int, message: str | None) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=code)
