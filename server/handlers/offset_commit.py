"""OffsetCommit: stores offsets of a group, each with leader epoch and metadata (KIP-211, KIP-320).

Versions 2 to 4 may set a retention time. From version 10 on topics have ids instead of names
(KIP-848). A topic or partition that does not exist has its own error and does not stop the others;
if none exists, the group is not checked. The response is sent when the offsets are committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse

from ..groups.requested_topics import merged_topics, resolve_topics
from ..groups.service.offset_commit import commit_offsets
from ..requests.request import Refusal, Request
from ..requests.slices import begun
from ..requests.waiting import Wait, sliced

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RequestTopic = OffsetCommitRequest.OffsetCommitRequestTopic
RequestPartition = OffsetCommitRequest.OffsetCommitRequestPartition
ResponseTopic = OffsetCommitResponse.OffsetCommitResponseTopic
ResponsePartition = OffsetCommitResponse.OffsetCommitResponsePartition

TOPIC_IDS_FROM = 10


@begun
def answer(node: HandlerContext, request: Request[OffsetCommitRequest]) -> Wait[OffsetCommitResponse]:
    body = request.body
    unknown, known = yield from resolve_topics(node.image, body.topics, request.version >= TOPIC_IDS_FROM)
    refused = (yield from sliced(lambda each: _failed(*each), unknown)) if unknown else []
    if not known:
        return OffsetCommitResponse(topics=refused)
    try:
        shard = node.groups.shard(body.group_id)
        committed = yield from commit_offsets(shard, body, known, request.version)
    except Refusal as refusal:
        code = refusal.code
        failed = yield from sliced(lambda topic: _failed(topic, code), known)
        return OffsetCommitResponse(topics=(yield from merged_topics(refused, failed)))
    if refused:
        committed = yield from merged_topics(refused, committed)
    response = shard.when_committed(OffsetCommitResponse(topics=committed))
    return response if isinstance(response, OffsetCommitResponse) else (yield from response)


def _failed(topic: RequestTopic, code: int) -> ResponseTopic:
    return ResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=_all_failed(topic.partitions, code))


def _all_failed(partitions: Sequence[RequestPartition], code: int) -> list[ResponsePartition]:
    return [ResponsePartition(partition_index=partition.partition_index, error_code=code) for partition in partitions]


def refuse(request: Request[OffsetCommitRequest], code: int, message: str | None) -> OffsetCommitResponse:
    return OffsetCommitResponse(topics=[_failed(topic, code) for topic in request.body.topics])
