"""Members of a consumer group that use the classic protocol (KIP-848): JoinGroup, SyncGroup,
Heartbeat and LeaveGroup.

To such a client the group looks like a classic one in which it is never the leader. Its generation
is its member epoch. JoinGroup takes it one step towards its target assignment, SyncGroup returns
what it has now, and Heartbeat says REBALANCE_IN_PROGRESS when there is another step to take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest, JoinGroupResponse
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafkadouble.messages.generated.sync_group import SyncGroupRequest, SyncGroupResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import WireError

from ...coordinator.response_future import ResponseFuture
from ...requests.request import Refusal, Request
from ..classic.member import JoinGroupParams
from ..consumer_protocol import encode_assignment, subscription_of, version_of
from ..modern.modern_group_member import MemberState
from . import downgrade, static_members, timers
from .assignment_steps import GroupChange
from .consumer_group import ConsumerGroup
from .consumer_group_member import ClassicMemberMetadata, ClassicProtocol, ConsumerGroupMember
from .fencing import fence_members
from .heartbeat import UNCHANGED
from .membership import CONSUMER_PROTOCOL
from .migration_policy import ConsumerGroupMigrationPolicy

if TYPE_CHECKING:
    from ...metadata.image import Image

MEMBER_ID_REQUIRED_FROM = 4

JoinFuture = ResponseFuture[JoinGroupResponse]


def join(group: ConsumerGroup, request: Request[JoinGroupRequest]) -> JoinFuture:
    """Returns the response to a JoinGroup request, once it is committed. Raises Refusal."""
    body, params = request.body, JoinGroupParams.of(request)
    if ConsumerGroupMigrationPolicy.of(group.shard.node.settings) is ConsumerGroupMigrationPolicy.DISABLED:
        raise Refusal(error_codes.INCONSISTENT_GROUP_PROTOCOL)
    member_id = body.member_id or str(Uuid.random(group.shard.node.random.randbytes))
    group.refuse_if_full(member_id, body.group_instance_id)
    if not group.supports_classic_protocols(params.protocol_type, params.protocols):
        raise Refusal(error_codes.INCONSISTENT_GROUP_PROTOCOL)
    if not body.member_id and body.group_instance_id is None and request.version >= MEMBER_ID_REQUIRED_FROM:
        return ResponseFuture(JoinGroupResponse(error_code=error_codes.MEMBER_ID_REQUIRED, member_id=member_id))
    return _join(group, member_id, body, params)


def _join(group: ConsumerGroup, member_id: str, body: JoinGroupRequest, params: JoinGroupParams) -> JoinFuture:
    present = group.static_member(body.group_instance_id)
    change = GroupChange(group)
    change.start(_member(change, member_id, body))
    becomes_classic = present is not None and downgrade.can_downgrade_with(group, present)
    subscription = _subscription(params)
    change.update(_updated(change.member, body, params, subscription), bumps_for_any_regex=True)
    owned = _owned(subscription, group.shard.node.image)
    if present is not None and becomes_classic:
        _downgrade(change, present, owned)
    else:
        change.advance(owned)
        change.write()
    future: JoinFuture = ResponseFuture()
    _complete_on_commit(change, becomes_classic, future)
    return future


def _subscription(params: JoinGroupParams) -> ConsumerProtocolSubscription:
    try:
        return subscription_of(next(iter(params.protocols.values())))
    except WireError as problem:
        raise Refusal(error_codes.INCONSISTENT_GROUP_PROTOCOL) from problem


def _member(change: GroupChange, member_id: str, body: JoinGroupRequest) -> ConsumerGroupMember:
    if body.group_instance_id is None:
        return change.group.member_or_new(member_id)
    if not body.member_id:
        return static_members.join(change, member_id, body.group_instance_id, uses_classic_protocol=True)
    return change.group.validated_static_member(member_id, body.group_instance_id)


def _updated(
    member: ConsumerGroupMember,
    body: JoinGroupRequest,
    params: JoinGroupParams,
    subscription: ConsumerProtocolSubscription,
) -> ConsumerGroupMember:
    timeout_ms = params.rebalance_timeout_ms
    return replace(
        member,
        instance_id=member.instance_id if body.group_instance_id is None else body.group_instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == UNCHANGED else timeout_ms,
        subscribed_topic_names=frozenset(subscription.topics),
        subscribed_topic_regex="",
        client_id=params.client_id,
        client_host=params.client_host,
        classic_member_metadata=ClassicMemberMetadata(
            params.session_timeout_ms, tuple(ClassicProtocol(*each) for each in params.protocols.items())
        ),
    )


def _owned(subscription: ConsumerProtocolSubscription, image: Image) -> Sequence[Any]:
    """Returns what the member owns, as a heartbeat would say it."""
    topics = ((image.topic_ids.get(each.topic), each.partitions) for each in subscription.owned_partitions)
    return [SimpleNamespace(topic_id=id, partitions=partitions) for id, partitions in topics if id is not None]


def _downgrade(change: GroupChange, replaced: ConsumerGroupMember, owned: Sequence[Any]) -> None:
    """Converts the group: this member replaces the last one with the consumer protocol."""
    group = change.group
    is_stale = group.assignment_epoch < change.group_epoch
    if not is_stale:
        change.reconcile(group.assignment_epoch, group.target_assignment_of(change.updated), owned)
    downgrade.downgrade_with(group, change.updated, replaced, change.records, is_stale=is_stale)


def _complete_on_commit(change: GroupChange, becomes_classic: bool, future: JoinFuture) -> None:
    group, member = change.group, change.updated
    response = JoinGroupResponse(
        member_id=member.member_id,
        generation_id=member.member_epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol_name=member.supported_classic_protocols[0].name,
    )

    def on_commit(code: int) -> None:
        if code:
            future.complete(JoinGroupResponse(error_code=code))
            return
        timers.cancel(group, timers.JOIN, member.member_id)
        if not becomes_classic:
            timers.schedule_session(group, member)
            timers.schedule_sync(group, member)
        future.complete(response)

    group.shard.after_commit(on_commit)


def sync(group: ConsumerGroup, body: SyncGroupRequest) -> SyncGroupResponse:
    """Returns what the member has now. Raises Refusal."""
    member = _classic_member(group, body.member_id, body.group_instance_id, body.generation_id)
    expected = (CONSUMER_PROTOCOL, member.supported_classic_protocols[0].name)
    for requested, actual in zip((body.protocol_type, body.protocol_name), expected, strict=True):
        if requested is not None and requested != actual:
            raise Refusal(error_codes.INCONSISTENT_GROUP_PROTOCOL)
    if group.assignment_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
        timers.schedule_join(group, member)
        raise Refusal(error_codes.REBALANCE_IN_PROGRESS)
    timers.cancel(group, timers.SYNC, member.member_id)
    timers.schedule_session(group, member)
    return SyncGroupResponse(
        protocol_type=body.protocol_type, protocol_name=body.protocol_name, assignment=_assignment(group, member)
    )


def _assignment(group: ConsumerGroup, member: ConsumerGroupMember) -> bytes:
    """Returns what the member has, in the version of its first protocol. Only that of the selected
    protocol was read when the group was upgraded. Raises Refusal(UNKNOWN_SERVER_ERROR)."""
    try:
        version = version_of(member.supported_classic_protocols[0].metadata)
    except WireError as problem:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR) from problem
    assigned = {topic_id: list(each) for topic_id, each in member.assigned_partitions.items()}
    return encode_assignment(assigned, group.shard.node.image, version)


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation_id: int
) -> ConsumerGroupMember:
    member = group.member(member_id) if instance_id is None else group.validated_static_member(member_id, instance_id)
    if not member.uses_classic_protocol:
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
    if generation_id != member.member_epoch:
        raise Refusal(error_codes.ILLEGAL_GENERATION)
    return member


def heartbeat(group: ConsumerGroup, body: HeartbeatRequest) -> None:
    """Restarts the member's session. Raises Refusal: REBALANCE_IN_PROGRESS if it must join
    again."""
    member = _classic_member(group, body.member_id, body.group_instance_id, body.generation_id)
    timers.schedule_session(group, member)
    has_next_step = (
        member.member_epoch < group.assignment_epoch
        or member.state is MemberState.UNREVOKED_PARTITIONS
        or (member.state is MemberState.UNRELEASED_PARTITIONS and not group.is_waiting_on_unreleased_partition(member))
    )
    if has_next_step:
        timers.schedule_join(group, member)
        raise Refusal(error_codes.REBALANCE_IN_PROGRESS)


def leave(
    group: ConsumerGroup, identities: Sequence[LeaveGroupRequest.MemberIdentity]
) -> list[LeaveGroupResponse.MemberResponse]:
    """Removes these members; returns a response, with an error code, for each of them."""
    leaving: dict[str, ConsumerGroupMember] = {}
    responses = []
    for identity in identities:
        code = error_codes.NONE
        try:
            member = _leaving(group, identity)
            leaving[member.member_id] = member
        except Refusal as refusal:
            code = refusal.code
        responses.append(
            LeaveGroupResponse.MemberResponse(
                member_id=identity.member_id, group_instance_id=identity.group_instance_id, error_code=code
            )
        )
    fence_members(group, list(leaving.values()))
    return responses


def _leaving(group: ConsumerGroup, identity: LeaveGroupRequest.MemberIdentity) -> ConsumerGroupMember:
    if identity.group_instance_id is None:
        return group.member(identity.member_id)
    present = group.static_member(identity.group_instance_id)
    if present is not None and not identity.member_id:
        return present
    return group.validated_static_member(identity.member_id, identity.group_instance_id)
