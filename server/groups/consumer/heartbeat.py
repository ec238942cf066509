"""ConsumerGroupHeartbeat: a member joins, stays in, or leaves a consumer group (KIP-848).

One heartbeat may do all of it, in this order: create the group, or convert a classic one; add or
update the member; resolve its regular expression; bump the group epoch; compute a target
assignment; take the member one step further towards it. Everything is written as one batch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kafkadouble.messages.uuid import Uuid

from ...requests.request import Request
from . import records, static_members, timers
from .assignment_steps import GroupChange
from .consumer_group import ConsumerGroup
from .consumer_group_member import LEAVE_GROUP_STATIC_MEMBER_EPOCH, ConsumerGroupMember
from .fencing import fence_members
from .group_lookup import begin_change
from .member_epochs import JOIN_GROUP_MEMBER_EPOCH, validate_heartbeat

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

HeartbeatRequest = Request[ConsumerGroupHeartbeatRequest]

UNCHANGED = -1
"""A rebalance timeout that the member does not repeat."""


def heartbeat(shard: GroupCoordinatorShard, request: HeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
    """Applies a heartbeat of a member that joins or stays. Raises Refusal."""
    body = request.body
    is_joining = body.member_epoch == JOIN_GROUP_MEMBER_EPOCH
    change = begin_change(shard, body.group_id, create=is_joining)
    change.group.refuse_if_full(body.member_id, body.instance_id)
    member_id = body.member_id or str(Uuid.random(shard.node.random.randbytes))
    change.start(_member(change, body, member_id))
    change.update(_updated(change.member, request))
    change.advance(body.topic_partitions)
    change.write()
    timers.schedule_session(change.group, change.updated)
    return _response(change, body)


def _member(change: GroupChange, body: ConsumerGroupHeartbeatRequest, member_id: str) -> ConsumerGroupMember:
    """Returns the member as it was, or a new one. Raises Refusal."""
    group, is_joining = change.group, body.member_epoch == JOIN_GROUP_MEMBER_EPOCH
    if body.instance_id is not None:
        if is_joining:
            return static_members.join(change, member_id, body.instance_id, uses_classic_protocol=False)
        member = group.validated_static_member(member_id, body.instance_id)
    else:
        member = group.member_or_new(member_id) if is_joining else group.member(member_id)
    validate_heartbeat(member, body.member_epoch, body.topic_partitions)
    return member


def _updated(member: ConsumerGroupMember, request: HeartbeatRequest) -> ConsumerGroupMember:
    """Returns the member with what the request changes. From now on it uses this protocol."""
    body = request.body
    names, timeout_ms = body.subscribed_topic_names, body.rebalance_timeout_ms
    given = {
        "instance_id": body.instance_id,
        "rack_id": body.rack_id,
        "rebalance_timeout_ms": None if timeout_ms == UNCHANGED else timeout_ms,
        "server_assignor_name": body.server_assignor,
        "subscribed_topic_names": None if names is None else frozenset(names),
        "subscribed_topic_regex": body.subscribed_topic_regex,
        "client_id": request.client_id,
        "client_host": f"/{request.peer.host}",
    }
    changes: dict[str, Any] = {
        name: value for name, value in given.items() if value is not None and value != getattr(member, name)
    }
    if not changes and not member.uses_classic_protocol:
        return member
    return replace(member, classic_member_metadata=None, **changes)


def _response(change: GroupChange, body: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
    member, group = change.updated, change.group
    interval_ms = group.shard.int_group_config(group.group_id, "consumer.heartbeat.interval.ms")
    response = ConsumerGroupHeartbeatResponse(
        member_id=member.member_id, member_epoch=member.member_epoch, heartbeat_interval_ms=interval_ms
    )
    is_changed = change.member.assigned_partitions != member.assigned_partitions
    if body.member_epoch == JOIN_GROUP_MEMBER_EPOCH or is_full(body) or is_changed:
        topic = ConsumerGroupHeartbeatResponse.TopicPartitions
        topics = [topic(topic_id=id, partitions=sorted(each)) for id, each in member.assigned_partitions.items()]
        response.assignment = ConsumerGroupHeartbeatResponse.Assignment(topic_partitions=topics)
    return response


def is_full(body: ConsumerGroupHeartbeatRequest) -> bool:
    """Returns whether the member repeats everything: it may have lost the last response."""
    has_subscription = body.subscribed_topic_names is not None or body.subscribed_topic_regex is not None
    return body.rebalance_timeout_ms != UNCHANGED and has_subscription and body.topic_partitions is not None


def leave(shard: GroupCoordinatorShard, body: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
    """Applies the last heartbeat of a member. Raises Refusal."""
    group = shard.typed_group(body.group_id, ConsumerGroup)
    if body.instance_id is None:
        fence_members(group, [group.member(body.member_id)])
        return ConsumerGroupHeartbeatResponse(member_id=body.member_id, member_epoch=body.member_epoch)
    member = group.validated_static_member(body.member_id, body.instance_id)
    if body.member_epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        shard.write([records.current_assignment_record(group.group_id, member.leaving_for_a_while())])
    else:
        fence_members(group, [member])
    return ConsumerGroupHeartbeatResponse(member_id=body.member_id, member_epoch=body.member_epoch)
