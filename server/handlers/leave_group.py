"""LeaveGroup: members leave, or an administrator removes them (KIP-345, KIP-571, KIP-800).

From version 3 on the request may name many members, static members by their instance id alone, and
each has its own error code. Before that it names one member, whose error is the error of the
response. If the group becomes empty, the response is sent when that is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.leave_group import LeaveGroupRequest, LeaveGroupResponse

from ..groups.service.classic_requests import leave
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

BATCH_FROM = 3


def answer(node: HandlerContext, request: Request[LeaveGroupRequest]) -> LeaveGroupResponse | Wait[LeaveGroupResponse]:
    body, is_batch = request.body, request.version >= BATCH_FROM
    shard = node.groups.shard_of_named(body.group_id)
    members = body.members if is_batch else [LeaveGroupRequest.MemberIdentity(member_id=body.member_id)]
    left = leave(shard, body.group_id, members)
    if is_batch:
        return shard.when_committed(LeaveGroupResponse(members=left))
    return shard.when_committed(LeaveGroupResponse(error_code=left[0].error_code))
