"""DescribeShareGroupOffsets: the start offsets of share groups, from version 1 on with their lag
(KIP-932, KIP-1226).

Without topics a group has all partitions with a state, and the request goes to the coordinator of
the group. Each group has its own error. A topic that does not exist has the start offset -1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
)

from ..groups.coordinator_group import SHARE
from ..groups.features import requires_protocol
from ..requests.request import Refusal, Request
from ..requests.slices import divided
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from ..security.acls import TOPIC
from ..security.authorizer import DESCRIBE
from ..security.client_rights import ClientRights, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RequestGroup = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup
RequestTopic = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestTopic
ResponseTopic = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseTopic
ResponseGroup = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup


precheck = requires_protocol(SHARE)


def answer(
    node: HandlerContext, request: Request[DescribeShareGroupOffsetsRequest]
) -> Wait[DescribeShareGroupOffsetsResponse]:
    groups, slices = [], Slices()
    for requested in request.body.groups:
        if slices.end():
            yield OTHERS_FIRST
        try:
            groups.append((yield from _describe(node, requested, client_rights(node, request))))
        except Refusal as refusal:
            groups.append(_failed(requested, refusal.code, refusal.message or error_codes.meaning(refusal.code)))
    return DescribeShareGroupOffsetsResponse(groups=groups)


def _describe(node: HandlerContext, requested: RequestGroup, rights: ClientRights | None) -> Wait[ResponseGroup]:
    from ..groups.share.describe_offsets import describe_all_offsets, describe_offsets

    if requested.topics is None:
        described = yield from describe_all_offsets(node.groups.shard(requested.group_id), requested.group_id)
        if rights is not None:
            described.topics, _ = yield from divided(partial(_may_describe, rights), described.topics)
        return described
    topics, denied = list(requested.topics), list[RequestTopic]()
    if rights is not None:
        topics, denied = yield from divided(partial(_may_describe, rights), topics)
    described = yield from describe_offsets(node, requested.group_id, topics)
    if not described.error_code:
        described.topics = [*described.topics, *map(_denied, denied)]
    return described


def _may_describe(rights: ClientRights, topic: RequestTopic | ResponseTopic) -> bool:
    return rights.may(DESCRIBE, TOPIC, topic.topic_name)


def _denied(topic: RequestTopic) -> ResponseTopic:
    code = error_codes.TOPIC_AUTHORIZATION_FAILED
    of = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponsePartition
    partitions = [
        of(partition_index=index, start_offset=-1, lag=-1, error_code=code, error_message=error_codes.meaning(code))
        for index in topic.partitions
    ]
    return ResponseTopic(topic_name=topic.topic_name, partitions=partitions)


def _failed(requested: RequestGroup, code: int, message: str | None) -> ResponseGroup:
    return ResponseGroup(group_id=requested.group_id, error_code=code, error_message=message)


def refuse(
    request: Request[DescribeShareGroupOffsetsRequest], code: int, message: str | None
) -> DescribeShareGroupOffsetsResponse:
    return DescribeShareGroupOffsetsResponse(groups=[_failed(group, code, message) for group in request.body.groups])
