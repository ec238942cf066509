"""ShareGroupDescribe: state, epochs, members and assignments of share groups (KIP-932).

A group that is unknown or of another type is GROUP_ID_NOT_FOUND. With an empty group id the
response has INVALID_GROUP_ID for it.

Difference from Apache Kafka: a group that the request repeats is answered each time, until the
response would become long; then it gets INVALID_REQUEST (`repeats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_group_describe import (
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)

from ..groups.coordinator_group import SHARE
from ..groups.features import refuse_without_protocol
from ..requests.repeats import Repeats
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait, sliced
from ..security.acls import GROUP, TOPIC
from ..security.authorizer import DESCRIBE
from ..security.client_rights import ClientRights, authorized_operations, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedGroup = ShareGroupDescribeResponse.DescribedGroup

HIDDEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


def precheck(node: HandlerContext, request: Request[Any]) -> None:
    """Raises Refusal if the cluster does not have these groups."""
    refuse_without_protocol(node, SHARE)


def answer(node: HandlerContext, request: Request[ShareGroupDescribeRequest]) -> Wait[ShareGroupDescribeResponse]:
    repeats = Repeats[DescribedGroup]()
    groups = yield from sliced(lambda group_id: _answer(node, request, group_id, repeats), request.body.group_ids)
    return ShareGroupDescribeResponse(groups=groups)


def _answer(
    node: HandlerContext,
    request: Request[ShareGroupDescribeRequest],
    group_id: str,
    repeats: Repeats[DescribedGroup],
) -> DescribedGroup:
    found = repeats.answer(group_id, lambda: _describe(node, request, group_id))
    return DescribedGroup(group_id=group_id, error_code=error_codes.INVALID_REQUEST) if found is None else found


def _describe(node: HandlerContext, request: Request[ShareGroupDescribeRequest], group_id: str) -> DescribedGroup:
    from ..groups.share.describe import describe
    from ..groups.share.group_lookup import share_group

    try:
        group = share_group(node.groups.shard_of_named(group_id), group_id)
    except Refusal as refusal:
        message = refusal.message
        # As in Kafka, which says no more of other codes.
        if refusal.code == error_codes.NOT_COORDINATOR:
            message = error_codes.meaning(refusal.code)
        return DescribedGroup(group_id=group_id, error_code=refusal.code, error_message=message)
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
    return {each.topic_name for member in group.members for each in member.assignment.topic_partitions}


def refuse(request: Request[ShareGroupDescribeRequest], code: int, message: str | None) -> ShareGroupDescribeResponse:
    return ShareGroupDescribeResponse(
        groups=[
            DescribedGroup(group_id=group_id, error_code=code, error_message=message)
            for group_id in request.body.group_ids
        ]
    )
