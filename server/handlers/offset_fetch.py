"""OffsetFetch: what a group has committed, for some partitions or (topics null, from version 2 on) for all (KIP-447, KIP-709, KIP-848).

From version 8 on many groups are asked after at once; before that one group is the request. From version 10 on topics are given by their ids,
and an offset of a former topic of the same name is none. Without an offset the answer is -1 and no error, also for a group that nobody has
heard of; from version 7 on one may ask that offsets of open transactions be waited for (UNSTABLE_OFFSET_COMMIT). Version 1 has no error but
those of partitions.

Where it differs from Apache Kafka: the answer always waits until what it shows is committed (Kafka without `require_stable` shows what was
committed last). A group or partition that is asked for again in the same request is answered again as in Kafka, but is INVALID_REQUEST once
that has become a long answer (`repeats`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafkadouble.messages.uuid import Uuid

from ..groups.fetch import fetch, fetch_all, no_offset
from ..requests.repeats import Repeats
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

Group = OffsetFetchRequest.OffsetFetchRequestGroup
Topic = OffsetFetchRequest.OffsetFetchRequestTopics
GroupAnswer = OffsetFetchResponse.OffsetFetchResponseGroup
TopicAnswer = OffsetFetchResponse.OffsetFetchResponseTopics
OldTopic = OffsetFetchResponse.OffsetFetchResponseTopic
OldPartition = OffsetFetchResponse.OffsetFetchResponsePartition

ERROR_OF_GROUP_FROM = 2
MANY_GROUPS_FROM = 8
TOPIC_IDS_FROM = 10


def answer(node: Node, request: Request[OffsetFetchRequest]) -> Wait[OffsetFetchResponse]:
    answers: list[GroupAnswer] = []
    repeats = Repeats()
    for group in _groups(request):
        try:
            answers.append((yield from _fetch(node, request, group, repeats)))
        except Refusal as refusal:
            answers.append(_failed(request, group, refusal.code))
    return _fit(request, answers)


def _groups(request: Request[OffsetFetchRequest]) -> list[Group]:
    """The groups as the newest versions have them."""
    body = request.body
    if request.version >= MANY_GROUPS_FROM:
        return list(body.groups)
    topics = None
    if body.topics is not None:
        topics = [Topic(name=topic.name, partition_indexes=topic.partition_indexes) for topic in body.topics]
    return [Group(group_id=body.group_id, topics=topics)]


def _fetch(node: Node, request: Request[OffsetFetchRequest], group: Group, repeats: Repeats) -> Wait[GroupAnswer]:
    shard, by_id = node.groups.shard(group.group_id), request.version >= TOPIC_IDS_FROM
    require_stable = request.body.require_stable
    if group.topics is None:
        found = fetch_all(shard, group.group_id, require_stable)
        if not repeats.may(group.group_id, 1 + sum(len(topic.partitions) for topic in found)):
            raise Refusal(error_codes.INVALID_REQUEST)
        topics = _with_ids(node, found) if by_id else found
    else:
        known, refused = _named(node, group.topics) if by_id else (list(group.topics), [])
        topics = fetch(shard, group.group_id, known, require_stable, repeats) + refused
    answer = GroupAnswer(group_id=group.group_id, topics=topics)
    return (yield from shard.settle(answer, late=error_codes.NOT_COORDINATOR))


def _with_ids(node: Node, topics: list[TopicAnswer]) -> list[TopicAnswer]:
    """The topics that still exist, with their ids."""
    found = [(answer, node.controller.image.topic_named(answer.name)) for answer in topics]
    return [
        TopicAnswer(name=answer.name, topic_id=topic.id, partitions=answer.partitions)
        for answer, topic in found
        if topic is not None
    ]


def _named(node: Node, topics: Sequence[Topic]) -> tuple[list[Topic], list[TopicAnswer]]:
    """The topics whose ids are known, with their names, and the answers for the others."""
    known, refused = [], []
    for asked in topics:
        topic = node.controller.image.topic(Uuid(asked.topic_id))
        if topic is None:
            refused.append(_refused(asked, error_codes.UNKNOWN_TOPIC_ID))
        else:
            known.append(Topic(name=topic.name, topic_id=topic.id, partition_indexes=asked.partition_indexes))
    return known, refused


def _refused(asked: Topic, code: int) -> TopicAnswer:
    partitions = [no_offset(index, code) for index in asked.partition_indexes]
    return TopicAnswer(name=asked.name, topic_id=asked.topic_id, partitions=partitions)


def _failed(request: Request[OffsetFetchRequest], group: Group, code: int) -> GroupAnswer:
    if request.version >= ERROR_OF_GROUP_FROM:
        return GroupAnswer(group_id=group.group_id, error_code=code)
    return GroupAnswer(group_id=group.group_id, topics=[_refused(topic, code) for topic in group.topics or ()])


def _fit(request: Request[OffsetFetchRequest], answers: list[GroupAnswer]) -> OffsetFetchResponse:
    if request.version >= MANY_GROUPS_FROM:
        return OffsetFetchResponse(groups=answers)
    (group,) = answers
    return OffsetFetchResponse(error_code=group.error_code, topics=[_old(topic) for topic in group.topics])


def _old(topic: TopicAnswer) -> OldTopic:
    return OldTopic(
        name=topic.name,
        partitions=[
            OldPartition(
                partition_index=each.partition_index,
                committed_offset=each.committed_offset,
                committed_leader_epoch=each.committed_leader_epoch,
                metadata=each.metadata,
                error_code=each.error_code,
            )
            for each in topic.partitions
        ],
    )


def refuse(request: Request[OffsetFetchRequest], code: int, message: str | None) -> OffsetFetchResponse:
    return _fit(request, [_failed(request, group, code) for group in _groups(request)])
