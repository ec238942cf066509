"""SyncGroup, Heartbeat and LeaveGroup: the requests of a member of a classic group.

SyncGroup. The leader sends the assignments. They are persisted first; after the commit the group is
stable and every waiting SyncGroup is answered. If they cannot be persisted, a new rebalance begins.
A member that sends SyncGroup to a stable group gets its assignment at once.

LeaveGroup. A member leaves, or an administrator removes it (KIP-345, KIP-571, KIP-800). The request
names a member by its member id, or a static member by its instance id; if it gives both, they must
agree. One rebalance follows, for any number of members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafkadouble.messages.generated.sync_group import SyncGroupRequest, SyncGroupResponse
from kafkadouble.wire.client_log import ClientLog

from ...coordinator.response_future import ResponseFuture
from ...requests.request import Refusal
from . import rebalance, records
from .group import ClassicGroup
from .state import ClassicGroupState

SyncFuture = ResponseFuture[SyncGroupResponse]
MemberIdentity = LeaveGroupRequest.MemberIdentity
MemberResponse = LeaveGroupResponse.MemberResponse

log = ClientLog("kafkadouble.server.groups")


def sync(group: ClassicGroup, body: SyncGroupRequest) -> SyncFuture:
    """Returns the response to a SyncGroup request; it may be completed later. Raises Refusal."""
    group.validate_member(body.member_id, body.group_instance_id)
    group.validate_generation(body.generation_id)
    protocol = ((body.protocol_type, group.protocol_type), (body.protocol_name, group.protocol_name))
    for requested, actual in protocol:
        if requested is not None and actual is not None and requested != actual:
            raise Refusal(error_codes.INCONSISTENT_GROUP_PROTOCOL)
    member = group.members[body.member_id]
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        raise Refusal(error_codes.REBALANCE_IN_PROGRESS)
    rebalance.remove_pending_sync(group, member.member_id)
    if group.state is ClassicGroupState.STABLE:
        return ResponseFuture(group.sync_response(member))
    future: SyncFuture = member.awaiting_sync_future or ResponseFuture()
    member.awaiting_sync_future = future
    if member.member_id == group.leader_id:
        assignments = {assignment.member_id: bytes(assignment.assignment) for assignment in body.assignments}
        on_commit = partial(_complete_rebalance, group, group.generation_id, assignments)
        group.shard.append_without_replay(records.group_metadata_record(group, assignments), on_commit)
    return future


def _complete_rebalance(group: ClassicGroup, generation_id: int, assignments: Mapping[str, bytes], code: int) -> None:
    if group.state is not ClassicGroupState.COMPLETING_REBALANCE or group.generation_id != generation_id:
        return
    if code:
        rebalance.fail_sync_requests(group, code)
        rebalance.prepare_rebalance(group, f"the assignments could not be persisted: error {code}")
        return
    group.transition_to(ClassicGroupState.STABLE)
    for member in group.members.values():
        member.assignment = assignments.get(member.member_id, b"")
        if member.complete_sync(group.sync_response(member)):
            rebalance.reschedule_session(group, member)


def heartbeat(group: ClassicGroup, body: HeartbeatRequest) -> None:
    """Restarts the member's session.

    Raises Refusal. REBALANCE_IN_PROGRESS tells the member to rejoin; its session is restarted then
    too.
    """
    group.validate_member(body.member_id, body.group_instance_id)
    group.validate_generation(body.generation_id)
    rebalance.reschedule_session(group, group.members[body.member_id])
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        raise Refusal(error_codes.REBALANCE_IN_PROGRESS)


def leave(group: ClassicGroup, identities: Sequence[MemberIdentity]) -> list[MemberResponse]:
    """Removes these members; returns a response, with an error code, for each of them."""
    responses = [_leave(group, identity) for identity in identities]
    removed = [response.member_id for response in responses if not response.error_code]
    if removed and not group.is_empty:
        rebalance.maybe_prepare_rebalance_or_complete_join(group, f"{removed} left")
    return responses


def _leave(group: ClassicGroup, identity: MemberIdentity) -> MemberResponse:
    member_id = identity.member_id
    if not member_id and identity.group_instance_id is not None:
        member_id = group.static_members.get(identity.group_instance_id, "")
    try:
        if member_id not in group.pending_join_members:
            group.validate_member(member_id, identity.group_instance_id)
    except Refusal as refusal:
        return left(identity, refusal.code)
    log.info("%r: member %s leaves; its reason: %s", group, member_id, identity.reason or "not provided")
    group.remove(member_id)
    return left(identity, error_codes.NONE)


def left(identity: MemberIdentity, code: int) -> MemberResponse:
    return MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id, error_code=code)
