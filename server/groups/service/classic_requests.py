"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup: which type of group answers them.

The members of a consumer group may use the classic protocol while it is converted (KIP-848). A
classic group replaces an empty group of another type, except a share group.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.sync_group import SyncGroupRequest

from ...coordinator.response_future import ResponseFuture
from ...requests.request import Refusal, Request
from ..classic import member_requests
from ..classic.group import ClassicGroup
from ..classic.join import JoinFuture, failed, join_group, join_new_group
from ..classic.member_requests import MemberIdentity, MemberResponse, SyncFuture
from ..coordinator_group import CONSUMER, STREAMS, CoordinatorGroup

if TYPE_CHECKING:
    from ..consumer.consumer_group import ConsumerGroup
    from ..group_coordinator_shard import GroupCoordinatorShard

REPLACED_IF_EMPTY = (CONSUMER, STREAMS)
"""The types of groups that a classic group replaces when they have no members."""


def join(shard: GroupCoordinatorShard, request: Request[JoinGroupRequest]) -> JoinFuture:
    """Returns the response to a JoinGroup request; it may be completed later."""
    group_id, member_id = request.body.group_id, request.body.member_id
    group = shard.groups.get(group_id)
    if isinstance(group, ClassicGroup):
        return join_group(group, request)
    if group is not None and not (group.is_empty and group.type in REPLACED_IF_EMPTY):
        if group.type != CONSUMER:
            return failed(error_codes.INCONSISTENT_GROUP_PROTOCOL)
        try:
            future: JoinFuture = _classic_members().join(group, request)
        except Refusal as refusal:
            return failed(refusal.code)
        return future
    if member_id:
        return failed(error_codes.UNKNOWN_MEMBER_ID, member_id)
    if group is not None:
        shard.write(group.tombstones())
    return join_new_group(shard, request)


def sync(shard: GroupCoordinatorShard, body: SyncGroupRequest) -> SyncFuture:
    """Returns the response to a SyncGroup request; it may be completed later. Raises Refusal."""
    group = shard.groups.get(body.group_id)
    if group is None or group.is_empty:
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
    if isinstance(group, ClassicGroup):
        return member_requests.sync(group, body)
    return ResponseFuture(_classic_members().sync(_consumer_group(group), body))


def heartbeat(shard: GroupCoordinatorShard, body: HeartbeatRequest) -> None:
    """Restarts the member's session. Raises Refusal."""
    group = shard.groups.get(body.group_id)
    if isinstance(group, ClassicGroup):
        member_requests.heartbeat(group, body)
    else:
        _classic_members().heartbeat(_consumer_group(group), body)


def leave(shard: GroupCoordinatorShard, group_id: str, identities: Sequence[MemberIdentity]) -> list[MemberResponse]:
    """Removes these members; returns a response, with an error code, for each of them. Raises
    Refusal."""
    group = shard.groups.get(group_id)
    if isinstance(group, ClassicGroup):
        return member_requests.leave(group, identities)
    try:
        found = _consumer_group(group)
    except Refusal as refusal:
        return [member_requests.left(identity, refusal.code) for identity in identities]
    responses: list[MemberResponse] = _classic_members().leave(found, identities)
    return responses


def _consumer_group(group: CoordinatorGroup | None) -> ConsumerGroup:
    """Raises Refusal(UNKNOWN_MEMBER_ID) for any other group."""
    from ..consumer.consumer_group import ConsumerGroup

    if not isinstance(group, ConsumerGroup):
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
    return group


def _classic_members() -> ModuleType:
    """Imports what answers classic members of consumer groups; most brokers have none."""
    from ..consumer import classic_members

    return classic_members
