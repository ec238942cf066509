"""ShareGroupDescribe: state, epochs, members and assignments of share groups (KIP-932).

A group that is unknown or of another type is GROUP_ID_NOT_FOUND. With an empty group id the
response has INVALID_GROUP_ID for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_group_describe import (
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)

from ..groups.coordinator_group import SHARE
from ..groups.features import requires_protocol
from ..groups.service.described_groups import GroupDescription, refusal_of_groups
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedGroup = ShareGroupDescribeResponse.DescribedGroup


precheck = requires_protocol(SHARE)


def answer(node: HandlerContext, request: Request[ShareGroupDescribeRequest]) -> Wait[ShareGroupDescribeResponse]:
    from ..groups.share.describe import describe
    from ..groups.share.share_group import ShareGroup

    description = GroupDescription(DescribedGroup, ShareGroup, describe, _topics_of)
    groups = yield from description.of(node, request)
    for group in groups:
        # As in Kafka, which says no more of other codes.
        if group.error_code == error_codes.NOT_COORDINATOR:
            group.error_message = error_codes.meaning(group.error_code)
    return ShareGroupDescribeResponse(groups=groups)


def _topics_of(group: DescribedGroup) -> Iterator[str]:
    for member in group.members:
        yield from (topic.topic_name for topic in member.assignment.topic_partitions)


refuse = refusal_of_groups(ShareGroupDescribeResponse)
