"""StreamsGroupHeartbeat: a member joins, stays in, or leaves a streams group (KIP-1071).

One heartbeat may do all of it, in this order: create the group, or replace an empty classic one;
add or update the member; initialise and configure the topology; bump the group epoch; compute a
target assignment; take the member one step further towards it. Everything is written as one batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

from ...requests.request import Refusal, Request
from ..classic.group import ClassicGroup
from . import records, static_members, timers
from .group_change import StreamsGroupChange
from .heartbeat_response import build_response
from .member_epochs import JOIN_GROUP_MEMBER_EPOCH, validate_heartbeat
from .members.distinct_keys import with_distinct_keys
from .members.heartbeat_status import HeartbeatStatus
from .members.streams_group_member import LEAVE_GROUP_STATIC_MEMBER_EPOCH, StreamsGroupMember, UserEndpoint
from .streams_group import StreamsGroup
from .topics.configured_topology import ConfiguredTopology, CreatableTopic
from .topics.streams_topology import StreamsTopology, topology_value

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

HeartbeatRequest = Request[StreamsGroupHeartbeatRequest]

UNCHANGED = -1
"""A rebalance timeout that the member does not repeat."""


class StreamsGroupHeartbeatResult(NamedTuple):
    """The response, and the internal topics that the broker should create."""

    response: StreamsGroupHeartbeatResponse
    internal_topics: Mapping[str, CreatableTopic]


def heartbeat(shard: GroupCoordinatorShard, request: HeartbeatRequest) -> StreamsGroupHeartbeatResult:
    """Applies a heartbeat of a member that joins or stays. Raises Refusal."""
    body = request.body
    group, replaced_group = _group(shard, body)
    change = StreamsGroupChange(group, () if replaced_group is None else replaced_group.tombstones())
    change.start(_member(change, body))
    change.update(_updated(change.member, request), is_static=body.instance_id is not None)
    change.configure(_topology(change, body))
    _check_tasks(change.configured, body)
    if body.task_offsets is not None or body.task_end_offsets is not None:
        reported = group.task_offsets_of(body.member_id).updated(body.task_offsets, body.task_end_offsets)
        group.task_offsets[body.member_id] = reported
    change.bump_epoch_if_needed()
    change.advance(body)
    if body.shutdown_application:
        group.request_shutdown(body.member_id)
    response = build_response(change, request)
    change.write()
    if replaced_group is not None:
        replaced_group.retire()
    timers.schedule_session(group, body.member_id)
    return StreamsGroupHeartbeatResult(response, change.configured.internal_topics_to_create)


def _group(
    shard: GroupCoordinatorShard, body: StreamsGroupHeartbeatRequest
) -> tuple[StreamsGroup, ClassicGroup | None]:
    """Returns the group, and the classic group that it replaces: the first member replaces an empty
    one, such as one that only has committed offsets. Raises Refusal(GROUP_ID_NOT_FOUND)."""
    present, is_joining = shard.groups.get(body.group_id), body.member_epoch == JOIN_GROUP_MEMBER_EPOCH
    if present is None and not is_joining:
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Streams group {body.group_id} not found.")
    replaced_group = present if is_joining and isinstance(present, ClassicGroup) and present.is_empty else None
    if present is None or replaced_group is not None:
        group = StreamsGroup(shard, body.group_id)
    else:
        group = shard.typed_group(body.group_id, StreamsGroup)
    if is_joining:
        group.refuse_if_full(body.member_id, body.instance_id)
    return group, replaced_group


def _member(change: StreamsGroupChange, body: StreamsGroupHeartbeatRequest) -> StreamsGroupMember:
    """Returns the member as it was, or a new one. Raises Refusal."""
    group, is_joining = change.group, body.member_epoch == JOIN_GROUP_MEMBER_EPOCH
    if body.instance_id is not None:
        present_id = group.static_members.get(body.instance_id)
        if is_joining:
            if present_id != body.member_id:
                change.replaced_member_id = present_id
            member, replacement = static_members.joining(group, body.member_id, body.instance_id)
            change.records += replacement
            return member
        member = group.validated_static_member(body.member_id, body.instance_id)
    else:
        member = group.member_or_new(body.member_id) if is_joining else group.member(body.member_id)
    validate_heartbeat(member, body)
    return member


def _updated(member: StreamsGroupMember, request: HeartbeatRequest) -> StreamsGroupMember:
    """Returns the member with what the request changes."""
    body = request.body
    given = {
        "instance_id": body.instance_id,
        "rack_id": body.rack_id,
        "rebalance_timeout_ms": None if body.rebalance_timeout_ms == UNCHANGED else body.rebalance_timeout_ms,
        "topology_epoch": None if body.topology is None else body.topology.epoch,
        "client_id": request.client_id,
        "client_host": f"/{request.peer.host}",
        "process_id": body.process_id,
        "client_tags": _client_tags(body),
    }
    changes: dict[str, Any] = {
        name: value for name, value in given.items() if value is not None and value != getattr(member, name)
    }
    endpoint = _user_endpoint(member, body)
    if endpoint != member.user_endpoint:
        changes["user_endpoint"] = endpoint
    return replace(member, **changes) if changes else member


def _client_tags(body: StreamsGroupHeartbeatRequest) -> Mapping[str, str] | None:
    if body.client_tags is None:
        return None
    return with_distinct_keys((tag.key, tag.value) for tag in body.client_tags)


def _user_endpoint(member: StreamsGroupMember, body: StreamsGroupHeartbeatRequest) -> UserEndpoint | None:
    if body.user_endpoint is not None:
        return UserEndpoint(body.user_endpoint.host, body.user_endpoint.port)
    return None if body.member_epoch == JOIN_GROUP_MEMBER_EPOCH else member.user_endpoint


def _topology(change: StreamsGroupChange, body: StreamsGroupHeartbeatRequest) -> StreamsTopology:
    """Returns the topology of the group: the first member sets it, and later ones have the same.

    A member with an older topology epoch gets a status. Raises Refusal(INVALID_REQUEST).
    """
    present = change.group.topology
    if body.topology is None:
        if present is None:
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
        topology = present
    else:
        requested = StreamsTopology.requested(body.topology)
        if present is None:
            change.records.append(records.topology_record(body.group_id, topology_value(body.topology)))
            return requested
        if present.epoch <= requested.epoch and present != requested:
            raise Refusal(error_codes.INVALID_REQUEST, "Topology updates are not supported yet.")
        topology = present
    epoch = change.updated.topology_epoch
    if epoch < topology.epoch:
        detail = f"The member's topology epoch {epoch} is behind the group's topology epoch {topology.epoch}."
        change.statuses.append(HeartbeatStatus.STALE_TOPOLOGY.with_detail(detail))
    return topology


def _check_tasks(topology: ConfiguredTopology, body: StreamsGroupHeartbeatRequest) -> None:
    """Checks that the member owns tasks of the topology. Raises Refusal(INVALID_REQUEST)."""
    if not topology.is_ready or topology.subtopologies is None:
        return
    for owned in (*(body.active_tasks or ()), *(body.standby_tasks or ()), *(body.warmup_tasks or ())):
        id = owned.subtopology_id
        subtopology = topology.subtopologies.get(id)
        if subtopology is None:
            raise Refusal(error_codes.INVALID_REQUEST, f"Subtopology {id} does not exist in the topology.")
        most = subtopology.number_of_tasks
        wrong = next((index for index in owned.partitions if not 0 <= index < most), None)
        if wrong is not None:
            message = f"Task {wrong} for subtopology {id} is invalid. Number of tasks for this subtopology: {most}"
            raise Refusal(error_codes.INVALID_REQUEST, message)


def leave(shard: GroupCoordinatorShard, body: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResult:
    """Applies the last heartbeat of a member. Raises Refusal."""
    group = shard.typed_group(body.group_id, StreamsGroup)
    if body.shutdown_application:
        group.request_shutdown(body.member_id)
    if body.instance_id is None:
        group.fence_member(group.member(body.member_id))
    else:
        member = group.validated_static_member(body.member_id, body.instance_id)
        if body.member_epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
            away = static_members.leaving_for_a_while(member)
            shard.write([records.current_assignment_record(group.group_id, away)])
        else:
            group.fence_member(member)
    response = StreamsGroupHeartbeatResponse(member_id=body.member_id, member_epoch=body.member_epoch)
    return StreamsGroupHeartbeatResult(response, {})
