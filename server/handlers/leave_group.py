"""LeaveGroup: members go, or an administrator removes them (KIP-345, KIP-571, KIP-800).

From version 3 on many may go at once, static ones by their instance id alone, and each has an error of its own; before that one goes, and its
error is the answer's. Answered when the group that remains is stored, should nobody remain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.leave_group import LeaveGroupRequest, LeaveGroupResponse

from ..groups.classic.leave import leave
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

MANY_MEMBERS_FROM = 3


def answer(node: Node, request: Request[LeaveGroupRequest]) -> LeaveGroupResponse | Wait[LeaveGroupResponse]:
    body, many = request.body, request.version >= MANY_MEMBERS_FROM
    shard = node.groups.shard_of_named(body.group_id)
    members = body.members if many else [LeaveGroupRequest.MemberIdentity(member_id=body.member_id)]
    left = leave(shard, body.group_id, members)
    return shard.settled(
        LeaveGroupResponse(members=left) if many else LeaveGroupResponse(error_code=left[0].error_code)
    )


def refuse(request: Request[LeaveGroupRequest], code: int, message: str | None) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=code)
