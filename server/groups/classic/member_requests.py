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
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafkadouble.messages.generated.sync_group import SyncGroupRequest, SyncGroupResponse
from kafkadouble.wire.client_log import ClientLog

from ...coordinator.response_future import ResponseFuture
from ...requests.request import Refusal
from ..coordinator_group import CoordinatorGroup
from . import rebalance, records
from .group import ClassicGroup
from .state import ClassicGroupState

if TYPE_CHECKING:
    from ..consumer.consumer_group import ConsumerGroup
    from ..group_coordinator_shard import GroupCoordinatorShard

SyncFuture = ResponseFuture[SyncGroupResponse]
MemberIdentity = LeaveGroupRequest.MemberIdentity
MemberResponse = LeaveGroupResponse.MemberResponse

log = ClientLog("kafkadouble.server.groups")


def sync(shard: GroupCoordinatorShard, body: SyncGroupRequest) -> SyncFuture:
    """Return the response to a SyncGroup request; it may be completed later. Raises Refusal."""
    group = shard.groups.get(body.group_id)
    if group is None or group.is_empty:
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
    if not isinstance(group, ClassicGroup):
        return ResponseFuture(_of_consumer_group().sync(_consumer_group(group), body))
    _validate_sync(group, body)
    member = group.members[body.member_id]
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        raise Refusal(error_codes.REBALANCE_IN_PROGRESS)
    rebalance.remove_pending_sync(group, member.member_id)
    if group.state is ClassicGroupState.STABLE:
        return ResponseFuture(group.sync_response(member))
    future: SyncFuture = member.awaiting_sync_future or ResponseFuture()
    member.awaiting_sync_future = future
    if member.member_id == group.leader_id:
        _persist_assignments(group, body)
    return future


def _consumer_group(group: CoordinatorGroup | None) -> ConsumerGroup:
    """Return a consumer group, whose members may use the classic protocol while it is converted.

    Raises Refusal(UNKNOWN_MEMBER_ID) for any other group.
    """
    from ..consumer.consumer_group import ConsumerGroup

    if not isinstance(group, ConsumerGroup):
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
    return group


def _of_consumer_group() -> Any:
    """Import what answers classic members of consumer groups; most brokers have none."""
    from ..consumer import classic_members

    return classic_members


def _validate_sync(group: ClassicGroup, body: SyncGroupRequest) -> None:
    group.validate_member(body.member_id, body.group_instance_id)
    group.validate_generation(body.generation_id)
    protocol = ((body.protocol_type, group.protocol_type), (body.protocol_name, group.protocol_name))
    for requested, actual in protocol:
        if requested is not None and actual is not None and requested != actual:
            raise Refusal(error_codes.INCONSISTENT_GROUP_PROTOCOL)


def _persist_assignments(group: ClassicGroup, body: SyncGroupRequest) -> None:
    assignments = {each.member_id: bytes(each.assignment) for each in body.assignments}
    on_commit = partial(_complete_rebalance, group, group.generation_id, assignments)
    group.shard.append_without_replay(records.group_metadata_record(group, assignments), on_commit)


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


def heartbeat(shard: GroupCoordinatorShard, body: HeartbeatRequest) -> None:
    """Restart the member's session.

    Raises Refusal. REBALANCE_IN_PROGRESS tells the member to rejoin; its session is restarted then
    too.
    """
    group = shard.groups.get(body.group_id)
    if not isinstance(group, ClassicGroup):
        _of_consumer_group().heartbeat(_consumer_group(group), body)
        return
    group.validate_member(body.member_id, body.group_instance_id)
    group.validate_generation(body.generation_id)
    rebalance.reschedule_session(group, group.members[body.member_id])
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        raise Refusal(error_codes.REBALANCE_IN_PROGRESS)


def leave(shard: GroupCoordinatorShard, group_id: str, identities: Sequence[MemberIdentity]) -> list[MemberResponse]:
    """Remove these members; return a response, with an error code, for each of them. Raises
    Refusal."""
    group = shard.groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        try:
            found = _consumer_group(group)
        except Refusal as refusal:
            return [_left(identity, refusal.code) for identity in identities]
        left: list[MemberResponse] = _of_consumer_group().leave(found, identities)
        return left
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
        return _left(identity, refusal.code)
    log.info("%r: member %s leaves; its reason: %s", group, member_id, identity.reason or "not provided")
    group.remove(member_id)
    return _left(identity, error_codes.NONE)


def _left(identity: MemberIdentity, code: int) -> MemberResponse:
    return MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id, error_code=code)
