"""StreamsGroupDescribe: state, epochs, topology, members and tasks of streams groups (KIP-1071).

A group that is unknown or of another type is GROUP_ID_NOT_FOUND. Version 1 adds the name of the
assignor and the description of the topology (KIP-1223), which only Apache Kafka with a plugin
stores: the status is always NOT_STORED. With an empty group id the response has INVALID_GROUP_ID
for it.

Difference from Apache Kafka: a group that the request repeats is answered each time, until the
response would become long; then it gets INVALID_REQUEST (`repeats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.streams_group_describe import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)

from ..groups.coordinator_group import STREAMS
from ..groups.features import refuse_without_protocol
from ..requests.repeats import Repeats
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait, sliced
from ..security.acls import GROUP, TOPIC
from ..security.authorizer import DESCRIBE
from ..security.client_rights import ClientRights, authorized_operations, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedGroup = StreamsGroupDescribeResponse.DescribedGroup

NOT_STORED = 1
"""The status of a topology description that no plugin keeps."""

HIDDEN_TOPICS = "The described group uses topics that the client is not authorized to describe."


def precheck(node: HandlerContext, request: Request[Any]) -> None:
    """Raises Refusal if the cluster does not have these groups."""
    refuse_without_protocol(node, STREAMS)


def answer(node: HandlerContext, request: Request[StreamsGroupDescribeRequest]) -> Wait[StreamsGroupDescribeResponse]:
    repeats = Repeats[DescribedGroup]()
    groups = yield from sliced(lambda group_id: _answer(node, request, group_id, repeats), request.body.group_ids)
    return StreamsGroupDescribeResponse(groups=groups)


def _answer(
    node: HandlerContext,
    request: Request[StreamsGroupDescribeRequest],
    group_id: str,
    repeats: Repeats[DescribedGroup],
) -> DescribedGroup:
    found = repeats.answer(group_id, lambda: _describe(node, request, group_id))
    return DescribedGroup(group_id=group_id, error_code=error_codes.INVALID_REQUEST) if found is None else found


def _describe(node: HandlerContext, request: Request[StreamsGroupDescribeRequest], group_id: str) -> DescribedGroup:
    from ..groups.streams.describe import describe
    from ..groups.streams.group_lookup import streams_group

    try:
        group = streams_group(node.groups.shard_of_named(group_id), group_id)
    except Refusal as refusal:
        return DescribedGroup(group_id=group_id, error_code=refusal.code, error_message=refusal.message)
    rights = client_rights(node, request)
    described = describe(group)
    if request.body.include_topology_description:
        described.topology_description_status = NOT_STORED
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
    found: set[str] = set()
    for subtopology in () if group.topology is None else group.topology.subtopologies or ():
        found.update(subtopology.source_topics, subtopology.repartition_sink_topics)
        found.update(each.name for each in subtopology.repartition_source_topics)
        found.update(each.name for each in subtopology.state_changelog_topics)
    return found


def refuse(
    request: Request[StreamsGroupDescribeRequest], code: int, message: str | None
) -> StreamsGroupDescribeResponse:
    return StreamsGroupDescribeResponse(
        groups=[
            DescribedGroup(group_id=group_id, error_code=code, error_message=message)
            for group_id in request.body.group_ids
        ]
    )
