"""JoinGroup to a classic group: who may come in, and under which id (KIP-345, KIP-394, KIP-800).

unknown id, version 4 on      the id is handed out, MEMBER_ID_REQUIRED: come again with it
unknown id, static member     comes in, or takes the place of the member that had its instance id (`static`)
known id                      takes part in the rebalance; begins one if it leads, or if its metadata changed
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.join_group import JoinGroupRequest, JoinGroupResponse

from ...coordinator.promise import Promise
from ...requests.request import Refusal, Request
from . import answers, rebalance, records, sessions, static
from .group import ClassicGroup
from .member import Joining, Member
from .state import State

if TYPE_CHECKING:
    from ..shard import GroupShard

Answer = Promise[JoinGroupResponse]

MEMBER_ID_IS_REQUIRED_FROM = 4


def join(shard: GroupShard, request: Request[JoinGroupRequest]) -> Answer:
    """The answer to a JoinGroup request, which may have to wait for others to join."""
    group_id, member_id = request.body.group_id, request.body.member_id
    group = shard.groups.get(group_id)
    if group is None:
        return _refused(error_codes.UNKNOWN_MEMBER_ID, member_id) if member_id else _join_new_group(shard, request)
    if not isinstance(group, ClassicGroup):
        return _refused(error_codes.INCONSISTENT_GROUP_PROTOCOL)
    return _join(group, request)


def _join_new_group(shard: GroupShard, request: Request[JoinGroupRequest]) -> Answer:
    """A group that the log does not take is none, and who would have been in it is told so."""
    group = ClassicGroup(shard, request.body.group_id)
    shard.groups[group.id] = group
    answer, codes = _join(group, request), list[int]()
    shard.note(records.new_group_record(group), codes.append)
    if not any(codes):
        return answer
    refused = answer.answer is not None and answer.answer.error_code
    group.unloaded()
    del shard.groups[group.id]
    return answer if refused else _refused(codes[0])


def _refused(code: int, member_id: str = "") -> Answer:
    return Promise(JoinGroupResponse(error_code=code, member_id=member_id))


def _join(group: ClassicGroup, request: Request[JoinGroupRequest]) -> Answer:
    joining, member_id = Joining.of(request), request.body.member_id
    if not _has_room_for(group, member_id):
        group.remove(member_id)
        return _refused(error_codes.GROUP_MAX_SIZE_REACHED)
    if not group.supports(joining.protocol_type, joining.protocols):
        return _refused(error_codes.INCONSISTENT_GROUP_PROTOCOL, member_id)
    if not member_id:
        return _join_unknown(group, request, joining)
    if member_id in group.pending_joins:
        if request.body.group_instance_id is not None:
            return _refused(error_codes.UNKNOWN_SERVER_ERROR)  # only dynamic members are handed ids; Kafka breaks here
        return _come_in(group, Member.joined(member_id, None, joining), joining)
    try:
        group.check_member(member_id, request.body.group_instance_id)
    except Refusal as refusal:
        return _refused(refusal.code, member_id)
    return _rejoin(group, group.members[member_id], joining)


def _has_room_for(group: ClassicGroup, member_id: str) -> bool:
    """While the group gathers, those who came are counted, so that the last ones to rejoin are turned away."""
    limit, member = group.shard.node.settings.int("group.max.size"), group.members.get(member_id)
    if group.state is State.PREPARING_REBALANCE:
        return (member is not None and member.joining is not None) or group.awaiting_join < limit
    return group.is_empty or member is not None or len(group.members) < limit


def _join_unknown(group: ClassicGroup, request: Request[JoinGroupRequest], joining: Joining) -> Answer:
    instance_id = request.body.group_instance_id
    new_id = _new_member_id(group, joining.client_id if instance_id is None else instance_id)
    if instance_id is None and request.version >= MEMBER_ID_IS_REQUIRED_FROM:
        sessions.await_pending(group, new_id, joining.session_timeout)
        return _refused(error_codes.MEMBER_ID_REQUIRED, new_id)
    if instance_id is not None and instance_id in group.static_members:
        return static.come_back(group, instance_id, new_id, joining, request.version)
    return _come_in(group, Member.joined(new_id, instance_id, joining), joining)


def _new_member_id(group: ClassicGroup, prefix: str) -> str:
    return f"{prefix}-{UUID(bytes=group.shard.node.random.randbytes(16), version=4)}"


def _come_in(group: ClassicGroup, member: Member, joining: Joining) -> Answer:
    answer: Answer = Promise()
    member.joining = answer
    if group.state is State.PREPARING_REBALANCE and group.previous_state is State.EMPTY:
        group.new_member_added = True
    if not group.members:
        group.protocol_type = joining.protocol_type
    group.add(member)
    sessions.keep(group, member, sessions.NEW_MEMBER_JOIN_TIMEOUT)
    rebalance.prepare_or_complete(group, f"{member!r} joins; its reason: {joining.reason}")
    return answer


def _rejoin(group: ClassicGroup, member: Member, joining: Joining) -> Answer:
    leads_again = group.state is State.STABLE and group.leader == member.id
    if group.state is State.PREPARING_REBALANCE or leads_again or not member.offers(joining.protocols):
        return rejoin(group, member, joining)
    return Promise(answers.joined(group, member))


def rejoin(group: ClassicGroup, member: Member, joining: Joining) -> Answer:
    """A member takes part in a rebalance, or makes one necessary."""
    answer: Answer = member.joining or Promise()
    member.update(joining)
    member.joining = answer
    rebalance.prepare_or_complete(group, f"{member!r} rejoins; its reason: {joining.reason}")
    return answer
