"""OffsetFetch: the committed offsets of groups, for some partitions or for all (KIP-447, KIP-709).

All partitions are requested by null topics, from version 2 on. From version 8 on the request names
many groups, before that one. From version 10 on topics have ids (KIP-848), and an offset of a
deleted topic with the same name does not count. A partition without a committed offset gets offset
-1 and no error, also if the group is unknown. From version 7 on `require_stable` asks the client to
retry while an open transaction holds the offset (UNSTABLE_OFFSET_COMMIT). Version 1 has errors only
for partitions. From version 9 on a member of a consumer group gives its
id and epoch, and a wrong one is an error of the group (KIP-848).

Differences from Apache Kafka: the response always waits until what it shows is committed (Kafka,
without `require_stable`, shows the last committed state). A group or partition that the request
repeats is answered each time, as in Kafka, until the response would become long; then it gets
INVALID_REQUEST (`repeats`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafkadouble.messages.uuid import Uuid

from ..groups.service.offset_fetch import fetch_all_offsets, fetch_offsets, no_offset
from ..requests.repeats import Repeats
from ..requests.request import Refusal, Request
from ..requests.slices import divided
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from ..security.acls import GROUP, TOPIC
from ..security.authorizer import DESCRIBE
from ..security.client_rights import ClientRights, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RequestGroup = OffsetFetchRequest.OffsetFetchRequestGroup
RequestTopic = OffsetFetchRequest.OffsetFetchRequestTopics
ResponseGroup = OffsetFetchResponse.OffsetFetchResponseGroup
ResponseTopic = OffsetFetchResponse.OffsetFetchResponseTopics
SingleGroupTopic = OffsetFetchResponse.OffsetFetchResponseTopic
SingleGroupPartition = OffsetFetchResponse.OffsetFetchResponsePartition

GROUP_ERROR_FROM = 2
DENIED = error_codes.TOPIC_AUTHORIZATION_FAILED
BATCH_FROM = 8
TOPIC_IDS_FROM = 10


def answer(node: HandlerContext, request: Request[OffsetFetchRequest]) -> Wait[OffsetFetchResponse]:
    responses: list[ResponseGroup] = []
    repeats, slices = Repeats[Any](), Slices()
    for group in _groups(request):
        if slices.end():
            yield OTHERS_FIRST
        try:
            responses.append((yield from _fetch(node, request, group, repeats)))
        except Refusal as refusal:
            responses.append(_group_failed(request, group, refusal.code))
    return _to_version(request, responses)


def _groups(request: Request[OffsetFetchRequest]) -> list[RequestGroup]:
    """Returns the groups in the form of the newest version."""
    body = request.body
    if request.version >= BATCH_FROM:
        return list(body.groups)
    topics = None
    if body.topics is not None:
        topics = [RequestTopic(name=topic.name, partition_indexes=topic.partition_indexes) for topic in body.topics]
    return [RequestGroup(group_id=body.group_id, topics=topics)]


def _fetch(
    node: HandlerContext, request: Request[OffsetFetchRequest], group: RequestGroup, repeats: Repeats[Any]
) -> Wait[ResponseGroup]:
    rights = client_rights(node, request)
    if rights is not None:
        rights.require(DESCRIBE, GROUP, group.group_id)
    shard, by_id = node.groups.shard(group.group_id), request.version >= TOPIC_IDS_FROM
    require_stable = request.body.require_stable
    if (present := shard.groups.get(group.group_id)) is not None:
        present.validate_offset_fetch(group.member_id, group.member_epoch)
    if group.topics is None:
        all_offsets = partial(fetch_all_offsets, shard, group.group_id, require_stable)
        found = yield from repeats.answer_in_steps(group.group_id, all_offsets)
        if found is None:
            raise Refusal(error_codes.INVALID_REQUEST)
        if rights is not None:
            found, _ = yield from divided(partial(_may_describe, rights), found)
        topics = (yield from _with_ids(node, found)) if by_id else found
    else:
        known, refused = (yield from _with_names(node, group.topics)) if by_id else (group.topics, [])
        if rights is not None:
            known, denied = yield from divided(partial(_may_describe, rights), known)
            refused += yield from sliced(partial(_topic_failed, code=DENIED), denied)
        topics = (yield from fetch_offsets(shard, group.group_id, known, require_stable, repeats)) + refused
    response = ResponseGroup(group_id=group.group_id, topics=topics)
    return (yield from shard.wait_for_commit(response, timeout_code=error_codes.NOT_COORDINATOR))


def _may_describe(rights: ClientRights, topic: RequestTopic | ResponseTopic) -> bool:
    return rights.may(DESCRIBE, TOPIC, topic.name)


def _with_ids(node: HandlerContext, topics: list[ResponseTopic]) -> Wait[list[ResponseTopic]]:
    """Returns the topics that still exist, with their ids."""

    def with_id(answer: ResponseTopic) -> ResponseTopic | None:
        topic = node.image.topic_named(answer.name)
        if topic is None:
            return None
        return ResponseTopic(name=answer.name, topic_id=topic.id, partitions=answer.partitions)

    return [topic for topic in (yield from sliced(with_id, topics)) if topic is not None]


def _with_names(
    node: HandlerContext, topics: Sequence[RequestTopic]
) -> Wait[tuple[list[RequestTopic], list[ResponseTopic]]]:
    """Returns the topics with known ids, with their names, and the responses for the others."""
    known, refused, slices = [], [], Slices()
    for requested in topics:
        if slices.end():
            yield OTHERS_FIRST
        topic = node.image.topic(Uuid(requested.topic_id))
        if topic is None:
            refused.append(_topic_failed(requested, error_codes.UNKNOWN_TOPIC_ID))
        else:
            known.append(
                RequestTopic(name=topic.name, topic_id=topic.id, partition_indexes=requested.partition_indexes)
            )
    return known, refused


def _topic_failed(requested: RequestTopic, code: int) -> ResponseTopic:
    partitions = [no_offset(index, code) for index in requested.partition_indexes]
    return ResponseTopic(name=requested.name, topic_id=requested.topic_id, partitions=partitions)


def _group_failed(request: Request[OffsetFetchRequest], group: RequestGroup, code: int) -> ResponseGroup:
    if request.version >= GROUP_ERROR_FROM:
        return ResponseGroup(group_id=group.group_id, error_code=code)
    return ResponseGroup(group_id=group.group_id, topics=[_topic_failed(topic, code) for topic in group.topics or ()])


def _to_version(request: Request[OffsetFetchRequest], responses: list[ResponseGroup]) -> OffsetFetchResponse:
    if request.version >= BATCH_FROM:
        return OffsetFetchResponse(groups=responses)
    (group,) = responses
    return OffsetFetchResponse(error_code=group.error_code, topics=[_to_version_7(topic) for topic in group.topics])


def _to_version_7(topic: ResponseTopic) -> SingleGroupTopic:
    return SingleGroupTopic(
        name=topic.name,
        partitions=[
            SingleGroupPartition(
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
    return _to_version(request, [_group_failed(request, group, code) for group in _groups(request)])
