"""DescribeGroups: state and members of classic groups (KIP-40, KIP-430, KIP-1043).

A group that nobody has heard of, or that is not classic, is Dead without an error; from version 6 on it is GROUP_ID_NOT_FOUND besides. From
version 3 on the operations that the asker may do on the group are told if he wants to know; without an authorizer he may do all.

Where it differs from Apache Kafka: a group that is asked for again in the same request is described again as in Kafka, but is INVALID_REQUEST
once that has become a long answer (`repeats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse

from ..groups.classic.describe import described
from ..groups.classic.group import ClassicGroup
from ..groups.classic.state import State
from ..requests.repeats import Repeats
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait, sliced

if TYPE_CHECKING:
    from ..node import Node

Described = DescribeGroupsResponse.DescribedGroup

NOT_FOUND_FROM = 6

READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS = 3, 6, 8, 10, 11
ALL_OPERATIONS = sum(1 << operation for operation in (READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS))
"""What can be done to a group, as bits by the codes of Kafka's AclOperation."""


def answer(node: Node, request: Request[DescribeGroupsRequest]) -> Wait[DescribeGroupsResponse]:
    repeats = Repeats()
    groups = yield from sliced(lambda group_id: _describe(node, request, group_id, repeats), request.body.groups)
    return DescribeGroupsResponse(groups=groups)


def _describe(node: Node, request: Request[DescribeGroupsRequest], group_id: str, repeats: Repeats) -> Described:
    try:
        group = node.groups.shard(group_id).groups.get(group_id)
    except Refusal as refusal:
        return Described(group_id=group_id, error_code=refusal.code)
    if not repeats.may(group_id, 1 + (len(group.members) if isinstance(group, ClassicGroup) else 0)):
        return Described(group_id=group_id, error_code=error_codes.INVALID_REQUEST)
    answer = described(group) if isinstance(group, ClassicGroup) else _dead(request, group_id, group is None)
    if request.body.include_authorized_operations and not answer.error_code:
        answer.authorized_operations = ALL_OPERATIONS
    return answer


def _dead(request: Request[DescribeGroupsRequest], group_id: str, unknown: bool) -> Described:
    answer = Described(group_id=group_id, group_state=State.DEAD.value)
    if request.version >= NOT_FOUND_FROM:
        answer.error_code = error_codes.GROUP_ID_NOT_FOUND
        answer.error_message = (
            f"Group {group_id} not found." if unknown else f"Group {group_id} is not a classic group."
        )
    return answer


def refuse(request: Request[DescribeGroupsRequest], code: int, message: str | None) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=[Described(group_id=group_id, error_code=code) for group_id in request.body.groups]
    )
