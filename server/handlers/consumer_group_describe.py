"""ConsumerGroupDescribe: state, epochs, members and assignments of consumer groups (KIP-848).

A group that is unknown or of another type is GROUP_ID_NOT_FOUND. Version 1 adds the type of each
member: classic or consumer. With an empty group id the response has INVALID_GROUP_ID for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)

from ..groups.coordinator_group import CONSUMER
from ..groups.features import refuse_without_protocol
from ..groups.service.described_groups import GroupDescription
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedGroup = ConsumerGroupDescribeResponse.DescribedGroup


def precheck(node: HandlerContext, request: Request[Any]) -> None:
    """Raises Refusal if the cluster does not have these groups."""
    refuse_without_protocol(node, CONSUMER)


def answer(node: HandlerContext, request: Request[ConsumerGroupDescribeRequest]) -> Wait[ConsumerGroupDescribeResponse]:
    from ..groups.consumer.describe import describe
    from ..groups.consumer.group_lookup import consumer_group

    description = GroupDescription(DescribedGroup, consumer_group, describe, _topics_of)
    return ConsumerGroupDescribeResponse(groups=(yield from description.of(node, request)))


def _topics_of(group: DescribedGroup) -> Iterator[str]:
    for member in group.members:
        for assignment in (member.assignment, member.target_assignment):
            yield from (topic.topic_name for topic in assignment.topic_partitions)


def refuse(
    request: Request[ConsumerGroupDescribeRequest], code: int, message: str | None
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(
        groups=[
            DescribedGroup(group_id=group_id, error_code=code, error_message=message)
            for group_id in request.body.group_ids
        ]
    )
