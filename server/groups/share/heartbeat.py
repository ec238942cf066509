"""ShareGroupHeartbeat: a member joins, stays in, or leaves a share group (KIP-932).

One heartbeat may do all of it, in this order: create the group; add or update the member; bump the
group epoch; compute a target assignment; give the member its part of it; note which partitions need
a state at the share coordinator. Everything is written as one batch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

from ...requests.request import Request
from ..coordinator_group import SHARE
from ..modern.heartbeat_group import fenced_member_epoch
from . import sessions
from .assignment_steps import ShareGroupChange
from .initialization import initialize_later
from .share_group import ShareGroup, share_group_or_new
from .share_group_member import ShareGroupMember

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

JOIN_GROUP_MEMBER_EPOCH = 0


def heartbeat(
    shard: GroupCoordinatorShard, request: Request[ShareGroupHeartbeatRequest]
) -> ShareGroupHeartbeatResponse:
    """Applies a heartbeat of a member that joins or stays. Raises Refusal."""
    body = request.body
    is_joining = body.member_epoch == JOIN_GROUP_MEMBER_EPOCH
    group = share_group_or_new(shard, body.group_id, create=is_joining)
    group.refuse_if_full(body.member_id)
    member = group.member_or_new(body.member_id) if is_joining else group.member(body.member_id)
    _validate_epoch(member, body.member_epoch)
    change = ShareGroupChange(group, member, _updated(member, request))
    change.write()
    sessions.schedule(shard, body.group_id, body.member_id)
    initialize_later(shard, body.group_id, change.initializations)
    return _response(shard, change, body)


def _validate_epoch(member: ShareGroupMember, epoch: int) -> None:
    """Checks the epoch of a heartbeat: the current one, or the previous one, if the member did not
    receive the last response. Raises Refusal(FENCED_MEMBER_EPOCH)."""
    current, previous = member.member_epoch, member.previous_member_epoch
    if epoch in (JOIN_GROUP_MEMBER_EPOCH, current, previous):
        return
    also = "" if epoch > current else f", and it does not match the previous member epoch ({previous})"
    raise fenced_member_epoch(SHARE, epoch, current, also)


def _updated(member: ShareGroupMember, request: Request[ShareGroupHeartbeatRequest]) -> ShareGroupMember:
    """Returns the member with what the request changes."""
    names, rack_id = request.body.subscribed_topic_names, request.body.rack_id
    return replace(
        member,
        rack_id=member.rack_id if rack_id is None else rack_id,
        subscribed_topic_names=member.subscribed_topic_names if names is None else frozenset(names),
        client_id=request.client_id,
        client_host=f"/{request.peer.host}",
    )


def _response(
    shard: GroupCoordinatorShard, change: ShareGroupChange, body: ShareGroupHeartbeatRequest
) -> ShareGroupHeartbeatResponse:
    member = change.updated
    interval_ms = shard.int_group_config(body.group_id, "share.heartbeat.interval.ms")
    response = ShareGroupHeartbeatResponse(
        member_id=member.member_id, member_epoch=member.member_epoch, heartbeat_interval_ms=interval_ms
    )
    is_full = body.member_epoch == JOIN_GROUP_MEMBER_EPOCH or body.subscribed_topic_names is not None
    if is_full or change.member.assigned_partitions != member.assigned_partitions:
        topic = ShareGroupHeartbeatResponse.TopicPartitions
        topics = [topic(topic_id=id, partitions=sorted(each)) for id, each in member.assigned_partitions.items()]
        response.assignment = ShareGroupHeartbeatResponse.Assignment(topic_partitions=topics)
    return response


def leave(shard: GroupCoordinatorShard, body: ShareGroupHeartbeatRequest) -> ShareGroupHeartbeatResponse:
    """Applies the last heartbeat of a member. Raises Refusal."""
    group = shard.typed_group(body.group_id, ShareGroup)
    group.fence_member(group.member(body.member_id))
    return ShareGroupHeartbeatResponse(member_id=body.member_id, member_epoch=body.member_epoch)
