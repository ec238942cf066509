"""ShareGroupDescribe: state, epochs, members and assignments of share groups (KIP-932).

A group that is unknown or of another type is GROUP_ID_NOT_FOUND. With an empty group id the
response has INVALID_GROUP_ID for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_group_describe import (
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)

from ..groups.coordinator_group import SHARE
from ..groups.features import refuse_without_protocol
from ..groups.service.described_groups import GroupDescription
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedGroup = ShareGroupDescribeResponse.DescribedGroup


def precheck(node: HandlerContext, request: Request[Any]) -> None:
    """Raises Refusal if the cluster does not have these groups."""
    refuse_without_protocol(node, SHARE)


def answer(node: HandlerContext, request: Request[ShareGroupDescribeRequest]) -> Wait[ShareGroupDescribeResponse]:
    from ..groups.share.describe import describe
    from ..groups.share.group_lookup import share_group

    description = GroupDescription(DescribedGroup, share_group, describe, _topics_of)
    groups = yield from description.of(node, request)
    for group in groups:
        # As in Kafka, which says no more of other codes.
        if group.error_code == error_codes.NOT_COORDINATOR:
            group.error_message = error_codes.meaning(group.error_code)
    return ShareGroupDescribeResponse(groups=groups)


def _topics_of(group: DescribedGroup) -> Iterator[str]:
    for member in group.members:
        yield from (topic.topic_name for topic in member.assignment.topic_partitions)


def refuse(request: Request[ShareGroupDescribeRequest], code: int, message: str | None) -> ShareGroupDescribeResponse:
    return ShareGroupDescribeResponse(
        groups=[
            DescribedGroup(group_id=group_id, error_code=code, error_message=message)
            for group_id in request.body.group_ids
        ]
    )
