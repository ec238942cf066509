"""Heartbeat to a classic group: a sign of life, answered with whether all is as the member believes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest

from ...requests.request import Refusal
from . import sessions
from .group import ClassicGroup
from .state import State

if TYPE_CHECKING:
    from ..shard import GroupShard


def heartbeat(shard: GroupShard, body: HeartbeatRequest) -> None:
    """Note that a member lives. Refusal(REBALANCE_IN_PROGRESS) counts as noted too: it is to rejoin."""
    group = shard.groups.get(body.group_id)
    if not isinstance(group, ClassicGroup):
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
    group.check_member(body.member_id, body.group_instance_id)
    group.check_generation(body.generation_id)
    sessions.keep(group, group.members[body.member_id])
    if group.state is State.PREPARING_REBALANCE:
        raise Refusal(error_codes.REBALANCE_IN_PROGRESS)
