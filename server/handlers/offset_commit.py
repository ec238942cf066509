"""OffsetCommit: stores offsets of a group, each with leader epoch and metadata (KIP-211, KIP-320).

Versions 2 to 4 may set a retention time. From version 10 on topics have ids instead of names
(KIP-848). A topic or partition that does not exist has its own error and does not stop the others;
if none exists, the group is not checked. The response is sent when the offsets are committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse

from ..groups.offset_commit import commit_offsets
from ..groups.requested_topics import resolve_topic
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RequestTopic = OffsetCommitRequest.OffsetCommitRequestTopic
RequestPartition = OffsetCommitRequest.OffsetCommitRequestPartition
ResponseTopic = OffsetCommitResponse.OffsetCommitResponseTopic
ResponsePartition = OffsetCommitResponse.OffsetCommitResponsePartition

TOPIC_IDS_FROM = 10


def answer(
    node: HandlerContext, request: Request[OffsetCommitRequest]
) -> OffsetCommitResponse | Wait[OffsetCommitResponse]:
    body = request.body
    refused, known = _resolve(node, request)
    if not known:
        return OffsetCommitResponse(topics=refused)
    try:
        shard = node.groups.shard(body.group_id)
        committed = commit_offsets(shard, body, known, request.version)
    except Refusal as refusal:
        return OffsetCommitResponse(topics=_merged(refused, [_failed(topic, refusal.code) for topic in known]))
    return shard.when_committed(OffsetCommitResponse(topics=_merged(refused, committed)))


def _resolve(
    node: HandlerContext, request: Request[OffsetCommitRequest]
) -> tuple[list[ResponseTopic], list[RequestTopic]]:
    """Return the responses for what does not exist, and the existing topics with names and ids."""
    refused, known = [], []
    for topic in request.body.topics:
        indexes = [partition.partition_index for partition in topic.partitions]
        by_id = request.version >= TOPIC_IDS_FROM
        found = resolve_topic(node.image, topic.name, topic.topic_id, by_id, indexes)
        if found.code:
            refused.append(_failed(topic, found.code))
            continue
        good = [partition for partition in topic.partitions if partition.partition_index not in found.unknown]
        bad = [partition for partition in topic.partitions if partition.partition_index in found.unknown]
        if bad:
            unknown = RequestTopic(name=found.name, topic_id=found.id, partitions=bad)
            refused.append(_failed(unknown, error_codes.UNKNOWN_TOPIC_OR_PARTITION))
        if good:
            known.append(RequestTopic(name=found.name, topic_id=found.id, partitions=good))
    return refused, known


def _merged(first: list[ResponseTopic], then: list[ResponseTopic]) -> list[ResponseTopic]:
    """Merge the responses so that each topic is there once, as in Kafka's response builder."""
    if not first:
        return then
    by_topic = {(topic.name, topic.topic_id): topic for topic in first}
    for topic in then:
        present = by_topic.setdefault((topic.name, topic.topic_id), topic)
        if present is not topic:
            present.partitions = [*present.partitions, *topic.partitions]
    return list(by_topic.values())


def _failed(topic: RequestTopic, code: int) -> ResponseTopic:
    return ResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=_all_failed(topic.partitions, code))


def _all_failed(partitions: Sequence[RequestPartition], code: int) -> list[ResponsePartition]:
    return [ResponsePartition(partition_index=each.partition_index, error_code=code) for each in partitions]


def refuse(request: Request[OffsetCommitRequest], code: int, message: str | None) -> OffsetCommitResponse:
    return OffsetCommitResponse(topics=[_failed(topic, code) for topic in request.body.topics])
