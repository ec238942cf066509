"""DescribeShareGroupOffsets: the start offsets of share groups, from version 1 on with their lag
(KIP-932, KIP-1226).

Without topics a group has all partitions with a state, and the request goes to the coordinator of
the group. Each group has its own error. A topic that does not exist has the start offset -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
)

from ..groups.coordinator_group import SHARE
from ..groups.features import refuse_without_protocol
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RequestGroup = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup
ResponseGroup = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup


def answer(
    node: HandlerContext, request: Request[DescribeShareGroupOffsetsRequest]
) -> Wait[DescribeShareGroupOffsetsResponse]:
    refuse_without_protocol(node, SHARE)
    groups = []
    for requested in request.body.groups:
        try:
            groups.append((yield from _describe(node, requested)))
        except Refusal as refusal:
            groups.append(_failed(requested, refusal.code, refusal.message or error_codes.meaning(refusal.code)))
    return DescribeShareGroupOffsetsResponse(groups=groups)


def _describe(node: HandlerContext, requested: RequestGroup) -> Wait[ResponseGroup]:
    from ..groups.share.describe_offsets import describe_all_offsets, describe_offsets

    if requested.topics is None:
        return (yield from describe_all_offsets(node.groups.shard(requested.group_id), requested.group_id))
    return (yield from describe_offsets(node, requested.group_id, requested.topics))


def _failed(requested: RequestGroup, code: int, message: str | None) -> ResponseGroup:
    return ResponseGroup(group_id=requested.group_id, error_code=code, error_message=message)


def refuse(
    request: Request[DescribeShareGroupOffsetsRequest], code: int, message: str | None
) -> DescribeShareGroupOffsetsResponse:
    return DescribeShareGroupOffsetsResponse(groups=[_failed(each, code, message) for each in request.body.groups])
