"""ConsumerGroupDescribe: state, epochs, members and assignments of consumer groups (KIP-848).

A group that is unknown or of another type is GROUP_ID_NOT_FOUND. Version 1 adds the type of each
member: classic or consumer. With an empty group id the response has INVALID_GROUP_ID for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)

from ..groups.coordinator_group import CONSUMER
from ..groups.features import requires_protocol
from ..groups.service.described_groups import GroupDescription, refusal_of_groups
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedGroup = ConsumerGroupDescribeResponse.DescribedGroup


precheck = requires_protocol(CONSUMER)


def answer(node: HandlerContext, request: Request[ConsumerGroupDescribeRequest]) -> Wait[ConsumerGroupDescribeResponse]:
    from ..groups.consumer.consumer_group import ConsumerGroup
    from ..groups.consumer.describe import describe

    description = GroupDescription(DescribedGroup, ConsumerGroup, describe, _topics_of)
    return ConsumerGroupDescribeResponse(groups=(yield from description.of(node, request)))


def _topics_of(group: DescribedGroup) -> Iterator[str]:
    for member in group.members:
        for assignment in (member.assignment, member.target_assignment):
            yield from (topic.topic_name for topic in assignment.topic_partitions)


refuse = refusal_of_groups(ConsumerGroupDescribeResponse)
