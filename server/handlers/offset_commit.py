"""OffsetCommit: how far a group has come, with a leader epoch and a note to each offset (KIP-211, KIP-320, KIP-345, KIP-848).

Versions 2 to 4 may say for how long the offsets are to be kept. From version 10 on topics are given by their ids. A topic or partition that
does not exist has its own error and does not hold up the others; if none exists the group is not looked at. Answered when the offsets are
stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse

from ..groups.commit import commit
from ..groups.known_topics import known_topic
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

Topic = OffsetCommitRequest.OffsetCommitRequestTopic
Partition = OffsetCommitRequest.OffsetCommitRequestPartition
TopicAnswer = OffsetCommitResponse.OffsetCommitResponseTopic
PartitionAnswer = OffsetCommitResponse.OffsetCommitResponsePartition

TOPIC_IDS_FROM = 10


def answer(node: Node, request: Request[OffsetCommitRequest]) -> OffsetCommitResponse | Wait[OffsetCommitResponse]:
    body = request.body
    refused, known = _sort_out(node, request)
    if not known:
        return OffsetCommitResponse(topics=refused)
    try:
        shard = node.groups.shard(body.group_id)
        answered = commit(shard, body, known, request.version)
    except Refusal as refusal:
        return OffsetCommitResponse(topics=_merged(refused, [_failed(topic, refusal.code) for topic in known]))
    return shard.settled(OffsetCommitResponse(topics=_merged(refused, answered)))


def _sort_out(node: Node, request: Request[OffsetCommitRequest]) -> tuple[list[TopicAnswer], list[Topic]]:
    """The answers for what does not exist, and the topics that do, with their names and ids."""
    refused, known = [], []
    for topic in request.body.topics:
        indexes = [partition.partition_index for partition in topic.partitions]
        by_id = request.version >= TOPIC_IDS_FROM
        found = known_topic(node.controller.image, topic.name, topic.topic_id, by_id, indexes)
        if found.code:
            refused.append(_failed(topic, found.code))
            continue
        good = [partition for partition in topic.partitions if partition.partition_index not in found.unknown]
        bad = [partition for partition in topic.partitions if partition.partition_index in found.unknown]
        if bad:
            unknown = Topic(name=found.name, topic_id=found.id, partitions=bad)
            refused.append(_failed(unknown, error_codes.UNKNOWN_TOPIC_OR_PARTITION))
        if good:
            known.append(Topic(name=found.name, topic_id=found.id, partitions=good))
    return refused, known


def _merged(first: list[TopicAnswer], then: list[TopicAnswer]) -> list[TopicAnswer]:
    """Both, with each topic once, as Kafka's response builder has them."""
    if not first:
        return then
    by_topic = {(topic.name, topic.topic_id): topic for topic in first}
    for topic in then:
        present = by_topic.setdefault((topic.name, topic.topic_id), topic)
        if present is not topic:
            present.partitions = [*present.partitions, *topic.partitions]
    return list(by_topic.values())


def _failed(topic: Topic, code: int) -> TopicAnswer:
    return TopicAnswer(name=topic.name, topic_id=topic.topic_id, partitions=_all_failed(topic.partitions, code))


def _all_failed(partitions: Sequence[Partition], code: int) -> list[PartitionAnswer]:
    return [PartitionAnswer(partition_index=each.partition_index, error_code=code) for each in partitions]


def refuse(request: Request[OffsetCommitRequest], code: int, message: str | None) -> OffsetCommitResponse:
    return OffsetCommitResponse(topics=[_failed(topic, code) for topic in request.body.topics])
