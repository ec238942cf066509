"""JoinGroup for a classic group: which client may join, and with which member id.

| member id | client | result |
|---|---|---|
| empty | dynamic, version 4 on | a member id is assigned; MEMBER_ID_REQUIRED (KIP-394) |
| empty | static, known instance id | it replaces the member, and gets a new member id (KIP-345) |
| empty | any other | a new member joins |
| pending | dynamic | a new member joins with the assigned member id |
| member | any | it rejoins; a rebalance begins if it leads, or if its metadata changed |

A static member in a stable group whose protocol stays the same causes no rebalance: only the new
member id is persisted (KIP-814). The leader then has nothing to assign. From version 9 on its
response says so (skip_assignment); before that it names the replaced id as the leader, so the
member acts as a follower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.join_group import JoinGroupRequest, JoinGroupResponse

from ...coordinator.response_future import ResponseFuture
from ...requests.request import Refusal, Request
from . import protocols, rebalance, records
from .group import ClassicGroup
from .member import ClassicGroupMember, JoinGroupParams
from .state import ClassicGroupState

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

JoinFuture = ResponseFuture[JoinGroupResponse]

MEMBER_ID_REQUIRED_FROM = 4
SKIP_ASSIGNMENT_FROM = 9


def failed(code: int, member_id: str = "") -> JoinFuture:
    return ResponseFuture(JoinGroupResponse(error_code=code, member_id=member_id))


def join_new_group(shard: GroupCoordinatorShard, request: Request[JoinGroupRequest]) -> JoinFuture:
    """Creates the group. If its record cannot be appended, drop the group and fail the join."""
    group = ClassicGroup(shard, request.body.group_id)
    shard.groups[group.group_id] = group
    future, codes = join_group(group, request), list[int]()
    shard.append_without_replay(records.empty_group_metadata_record(group), codes.append)
    if not any(codes):
        return future
    already_failed = future.response is not None and future.response.error_code
    group.on_unloaded()
    del shard.groups[group.group_id]
    return future if already_failed else failed(codes[0])


def join_group(group: ClassicGroup, request: Request[JoinGroupRequest]) -> JoinFuture:
    params = JoinGroupParams.of(request)
    member_id, group_instance_id = request.body.member_id, request.body.group_instance_id
    if not _accepts(group, member_id):
        group.remove(member_id)
        return failed(error_codes.GROUP_MAX_SIZE_REACHED)
    if not group.supports_protocols(params.protocol_type, params.protocols):
        return failed(error_codes.INCONSISTENT_GROUP_PROTOCOL, member_id)
    if not member_id:
        return _join_without_member_id(group, request, params)
    if member_id in group.pending_join_members:
        # Only dynamic members have pending ids; Kafka fails here too.
        if group_instance_id is not None:
            return failed(error_codes.UNKNOWN_SERVER_ERROR)
        return _add_member(group, ClassicGroupMember.joining(member_id, None, params), params)
    try:
        group.validate_member(member_id, group_instance_id)
    except Refusal as refusal:
        return failed(refusal.code, member_id)
    return _rejoin(group, group.members[member_id], params)


def _accepts(group: ClassicGroup, member_id: str) -> bool:
    """Returns whether the group has room for the member.

    During a join phase only the members that have joined count, so the last ones to rejoin are
    rejected.
    """
    max_size, member = group.shard.node.settings.int("group.max.size"), group.members.get(member_id)
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        return (member is not None and member.is_awaiting_join) or group.awaiting_join_count < max_size
    return group.is_empty or member is not None or len(group.members) < max_size


def _join_without_member_id(
    group: ClassicGroup, request: Request[JoinGroupRequest], params: JoinGroupParams
) -> JoinFuture:
    group_instance_id = request.body.group_instance_id
    prefix = params.client_id if group_instance_id is None else group_instance_id
    new_id = f"{prefix}-{UUID(bytes=group.shard.node.random.randbytes(16), version=4)}"
    if group_instance_id is None and request.version >= MEMBER_ID_REQUIRED_FROM:
        rebalance.add_pending_join(group, new_id, params.session_timeout_ms)
        return failed(error_codes.MEMBER_ID_REQUIRED, new_id)
    if group_instance_id is not None and group_instance_id in group.static_members:
        return _replace_static_member(group, group_instance_id, new_id, params, request.version)
    return _add_member(group, ClassicGroupMember.joining(new_id, group_instance_id, params), params)


def _add_member(group: ClassicGroup, member: ClassicGroupMember, params: JoinGroupParams) -> JoinFuture:
    future: JoinFuture = ResponseFuture()
    member.awaiting_join_future = future
    is_preparing = group.state is ClassicGroupState.PREPARING_REBALANCE
    if is_preparing and group.previous_state is ClassicGroupState.EMPTY:
        group.new_member_added = True
    if not group.members:
        group.protocol_type = params.protocol_type
    group.add(member)
    rebalance.reschedule_session(group, member, rebalance.NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance.maybe_prepare_rebalance_or_complete_join(group, f"{member!r} joins; its reason: {params.reason}")
    return future


def _rejoin(group: ClassicGroup, member: ClassicGroupMember, params: JoinGroupParams) -> JoinFuture:
    is_preparing = group.state is ClassicGroupState.PREPARING_REBALANCE
    leader_rejoins = group.state is ClassicGroupState.STABLE and group.leader_id == member.member_id
    if not is_preparing and not leader_rejoins and member.matches(params.protocols):
        return ResponseFuture(group.join_response(member))
    future: JoinFuture = member.awaiting_join_future or ResponseFuture()
    member.update(params)
    member.awaiting_join_future = future
    rebalance.maybe_prepare_rebalance_or_complete_join(group, f"{member!r} rejoins; its reason: {params.reason}")
    return future


class _ReplacedMember(NamedTuple):
    """The static member before its replacement, to restore it if the new id cannot be persisted."""

    member_id: str
    leader_id: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: dict[str, bytes]


def _replace_static_member(
    group: ClassicGroup, group_instance_id: str, new_id: str, params: JoinGroupParams, version: int
) -> JoinFuture:
    member = group.members[group.static_members[group_instance_id]]
    timeouts_ms = (member.session_timeout_ms, member.rebalance_timeout_ms)
    replaced = _ReplacedMember(member.member_id, group.leader_id, *timeouts_ms, member.supported_protocols)
    group.replace_static_member(group_instance_id, new_id)
    future: JoinFuture = ResponseFuture()
    member.update(params)
    member.awaiting_join_future = future
    is_stable = group.state is ClassicGroupState.STABLE
    if is_stable and protocols.select_protocol(group.members.values()) == group.protocol_name:
        _persist_new_member_id(group, member, replaced, version)
    elif group.state is ClassicGroupState.PREPARING_REBALANCE:
        rebalance.maybe_complete_join_phase(group)
    else:
        rebalance.prepare_rebalance(group, f"{member!r} was replaced; its reason: {params.reason}")
    return future


def _persist_new_member_id(
    group: ClassicGroup, member: ClassicGroupMember, replaced: _ReplacedMember, version: int
) -> None:
    assignments = {other.member_id: other.assignment for other in group.members.values()}
    new_id = member.member_id

    def on_commit(code: int) -> None:
        if group.members.get(new_id) is not member or not member.is_awaiting_join:
            return
        if code:
            _restore_replaced(group, member, replaced, code)
        else:
            member.complete_join(_unchanged_generation(group, member, replaced, version))
            rebalance.reschedule_session(group, member)

    group.shard.append_without_replay(records.group_metadata_record(group, assignments), on_commit)


def _unchanged_generation(
    group: ClassicGroup, member: ClassicGroupMember, replaced: _ReplacedMember, version: int
) -> JoinGroupResponse:
    if version >= SKIP_ASSIGNMENT_FROM:
        return group.join_response(member, skip_assignment=group.leader_id == member.member_id)
    response = group.join_response(member)
    response.leader, response.members = replaced.leader_id or "", ()
    return response


def _restore_replaced(group: ClassicGroup, member: ClassicGroupMember, replaced: _ReplacedMember, code: int) -> None:
    response = group.join_response(member)
    response.error_code, response.member_id = code, ""
    response.leader, response.members = replaced.leader_id or "", ()
    member.complete_join(response)
    group.rename_static_member(member, replaced.member_id)
    member.session_timeout_ms = replaced.session_timeout_ms
    member.rebalance_timeout_ms = replaced.rebalance_timeout_ms
    member.supported_protocols = replaced.protocols
    rebalance.reschedule_session(group, member)
