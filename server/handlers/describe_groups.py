"""DescribeGroups: state and members of classic groups (KIP-40, KIP-430, KIP-1043).

A group that is unknown or not classic is Dead and no error; from version 6 on it also is
GROUP_ID_NOT_FOUND. From version 3 on the response can have the operations that the client may do on
the group; without an authorizer, all of them. A group shows a protocol and the metadata of its
members only while it is stable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse

from ..groups.classic.group import ClassicGroup
from ..groups.classic.member import ClassicGroupMember
from ..groups.classic.state import ClassicGroupState
from ..groups.service.described_groups import each_group
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait
from ..security.acls import GROUP
from ..security.client_rights import authorized_operations, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedGroup = DescribeGroupsResponse.DescribedGroup
DescribedGroupMember = DescribeGroupsResponse.DescribedGroupMember

GROUP_ID_NOT_FOUND_FROM = 6


def answer(node: HandlerContext, request: Request[DescribeGroupsRequest]) -> Wait[DescribeGroupsResponse]:
    groups = yield from each_group(
        request.body.groups, DescribedGroup, lambda group_id: _describe(node, request, group_id)
    )
    return DescribeGroupsResponse(groups=groups)


def _describe(node: HandlerContext, request: Request[DescribeGroupsRequest], group_id: str) -> DescribedGroup:
    try:
        group = node.groups.shard(group_id).groups.get(group_id)
    except Refusal as refusal:
        return DescribedGroup(group_id=group_id, error_code=refusal.code)
    answer = _classic(group) if isinstance(group, ClassicGroup) else _dead(request, group_id, group is None)
    if request.body.include_authorized_operations and not answer.error_code:
        answer.authorized_operations = authorized_operations(client_rights(node, request), GROUP, group_id)
    return answer


def _classic(group: ClassicGroup) -> DescribedGroup:
    protocol = group.protocol_name if group.state is ClassicGroupState.STABLE else None
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
        members=[_member(member, protocol) for member in group.members.values()],
    )


def _member(member: ClassicGroupMember, protocol: str | None) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=b"" if protocol is None else member.supported_protocols[protocol],
        member_assignment=member.assignment,
    )


def _dead(request: Request[DescribeGroupsRequest], group_id: str, unknown: bool) -> DescribedGroup:
    answer = DescribedGroup(group_id=group_id, group_state=ClassicGroupState.DEAD.value)
    if request.version >= GROUP_ID_NOT_FOUND_FROM:
        answer.error_code = error_codes.GROUP_ID_NOT_FOUND
        answer.error_message = (
            f"Group {group_id} not found." if unknown else f"Group {group_id} is not a classic group."
        )
    return answer


def refuse(request: Request[DescribeGroupsRequest], code: int, message: str | None) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=[DescribedGroup(group_id=group_id, error_code=code) for group_id in request.body.groups]
    )
