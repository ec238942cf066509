"""LeaveGroup from a classic group: members that go of their own accord, or that an administrator removes (KIP-345, KIP-571, KIP-800).

A member is named by its id; a static one by its instance id alone, or by both, which must then agree. One rebalance follows, however many go.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest, LeaveGroupResponse

from ...requests.request import Refusal
from . import rebalance
from .group import ClassicGroup
from .state import State

if TYPE_CHECKING:
    from ..shard import GroupShard

Leaving = LeaveGroupRequest.MemberIdentity
Left = LeaveGroupResponse.MemberResponse

log = logging.getLogger("kafkadouble.server.groups")


def leave(shard: GroupShard, group_id: str, members: Sequence[Leaving]) -> list[Left]:
    """Who of them left, and who is no member."""
    group = shard.groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        return [_answer(each, error_codes.UNKNOWN_MEMBER_ID) for each in members]
    left = [_leave(group, each) for each in members]
    gone = [each.member_id for each in left if not each.error_code]
    if gone and group.state is not State.EMPTY:
        rebalance.prepare_or_complete(group, f"{gone} left")
    return left


def _answer(leaving: Leaving, code: int) -> Left:
    return Left(member_id=leaving.member_id, group_instance_id=leaving.group_instance_id, error_code=code)


def _leave(group: ClassicGroup, leaving: Leaving) -> Left:
    member_id = leaving.member_id
    if not member_id and leaving.group_instance_id is not None:
        member_id = group.static_members.get(leaving.group_instance_id, "")
    try:
        if member_id not in group.pending_joins:
            group.check_member(member_id, leaving.group_instance_id)
    except Refusal as refusal:
        return _answer(leaving, refusal.code)
    log.info("%r: member %s leaves; its reason: %s", group, member_id, leaving.reason or "not provided")
    group.remove(member_id)
    return _answer(leaving, error_codes.NONE)
