"""ConsumerGroupDescribe: state, epochs, members and assignments of consumer groups (KIP-848).

A group that is unknown or of another type is GROUP_ID_NOT_FOUND. Version 1 adds the type of each
member: classic or consumer. With an empty group id the response has INVALID_GROUP_ID for it.

Difference from Apache Kafka: a group that the request repeats is answered each time, until the
response would become long; then it gets INVALID_REQUEST (`repeats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)

from ..groups.coordinator_group import CONSUMER
from ..groups.features import refuse_without_protocol
from ..requests.repeats import Repeats
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait, sliced
from ..security.acls import GROUP, TOPIC
from ..security.authorizer import DESCRIBE
from ..security.client_rights import ClientRights, authorized_operations, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedGroup = ConsumerGroupDescribeResponse.DescribedGroup

HIDDEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


def precheck(node: HandlerContext, request: Request[Any]) -> None:
    """Raises Refusal if the cluster does not have these groups."""
    refuse_without_protocol(node, CONSUMER)


def answer(node: HandlerContext, request: Request[ConsumerGroupDescribeRequest]) -> Wait[ConsumerGroupDescribeResponse]:
    repeats = Repeats[DescribedGroup]()
    groups = yield from sliced(lambda group_id: _answer(node, request, group_id, repeats), request.body.group_ids)
    return ConsumerGroupDescribeResponse(groups=groups)


def _answer(
    node: HandlerContext,
    request: Request[ConsumerGroupDescribeRequest],
    group_id: str,
    repeats: Repeats[DescribedGroup],
) -> DescribedGroup:
    found = repeats.answer(group_id, lambda: _describe(node, request, group_id))
    return DescribedGroup(group_id=group_id, error_code=error_codes.INVALID_REQUEST) if found is None else found


def _describe(node: HandlerContext, request: Request[ConsumerGroupDescribeRequest], group_id: str) -> DescribedGroup:
    from ..groups.consumer.describe import describe
    from ..groups.consumer.group_lookup import consumer_group

    try:
        group = consumer_group(node.groups.shard_of_named(group_id), group_id)
    except Refusal as refusal:
        return DescribedGroup(group_id=group_id, error_code=refusal.code, error_message=refusal.message)
    rights = client_rights(node, request)
    described = describe(group)
    if request.body.include_authorized_operations:
        described.authorized_operations = authorized_operations(rights, GROUP, group_id)
    return _with_visible_topics(rights, described)


def _with_visible_topics(rights: ClientRights | None, group: DescribedGroup) -> DescribedGroup:
    """The group, or an error if it has a topic that the client may not describe."""
    if rights is None or all(rights.may(DESCRIBE, TOPIC, name) for name in _topics_of(group)):
        return group
    code = error_codes.TOPIC_AUTHORIZATION_FAILED
    return DescribedGroup(group_id=group.group_id, error_code=code, error_message=HIDDEN_TOPICS)


def _topics_of(group: DescribedGroup) -> set[str]:
    assignments = (each for member in group.members for each in (member.assignment, member.target_assignment))
    return {each.topic_name for assignment in assignments for each in assignment.topic_partitions}


def refuse(
    request: Request[ConsumerGroupDescribeRequest], code: int, message: str | None
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(
        groups=[
            DescribedGroup(group_id=group_id, error_code=code, error_message=message)
            for group_id in request.body.group_ids
        ]
    )
