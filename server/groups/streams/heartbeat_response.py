"""The response to a heartbeat of a streams group: the member's tasks if they changed, the endpoints
of the others if the member has not seen them, and statuses (KIP-1071)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

from ...requests.request import Request
from .group_configs import RACK_AWARE_ASSIGNMENT_TAGS
from .member_epochs import JOIN_GROUP_MEMBER_EPOCH
from .members.heartbeat_status import HeartbeatStatus

if TYPE_CHECKING:
    from .group_change import StreamsGroupChange

TaskIds = StreamsGroupHeartbeatResponse.TaskIds

CLIENT_TAGS_FROM = 1
"""The first version whose clients know MISSING_CLIENT_TAGS."""


def build_response(
    change: StreamsGroupChange, request: Request[StreamsGroupHeartbeatRequest]
) -> StreamsGroupHeartbeatResponse:
    """Returns the response, before the change is written. Raises Refusal(UNKNOWN_SERVER_ERROR)."""
    shard, group_id, member = change.shard, change.group.group_id, change.updated
    response = StreamsGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        heartbeat_interval_ms=shard.int_group_config(group_id, "streams.heartbeat.interval.ms"),
        task_offset_interval_ms=shard.int_group_config(group_id, "streams.task.offset.interval.ms"),
        acceptable_recovery_lag=shard.int_group_config(group_id, "streams.acceptable.recovery.lag"),
    )
    is_joining = request.body.member_epoch == JOIN_GROUP_MEMBER_EPOCH
    has_other_tasks = change.member.assigned_tasks != member.assigned_tasks
    if is_joining or has_other_tasks:
        response.active_tasks = _task_ids(member.assigned_tasks.active)
        response.standby_tasks = _task_ids(member.assigned_tasks.standby)
        response.warmup_tasks = _task_ids(member.assigned_tasks.warmup)
    _add_endpoints(change, request.body, response, tasks_are_new=is_joining or has_other_tasks)
    error = change.configured.error
    if error is not None:
        change.statuses.append(error.status.with_detail(error.message))
    _add_shutdown_status(change)
    if request.version >= CLIENT_TAGS_FROM:
        _add_client_tags_status(change)
    response.status = change.statuses
    return response


def _task_ids(tasks: Mapping[str, Iterable[int]]) -> list[TaskIds]:
    return [TaskIds(subtopology_id=id, partitions=sorted(partitions)) for id, partitions in sorted(tasks.items())]


def _add_endpoints(
    change: StreamsGroupChange,
    body: StreamsGroupHeartbeatRequest,
    response: StreamsGroupHeartbeatResponse,
    *,
    tasks_are_new: bool,
) -> None:
    group, before, after = change.group, change.member, change.updated
    endpoint_changed = before.user_endpoint != after.user_endpoint
    tasks_changed = before.assigned_tasks != after.assigned_tasks
    if tasks_are_new or endpoint_changed or change.replaced_member_id is not None:
        group.endpoints.invalidate(after.member_id)
        group.endpoints.invalidate(change.replaced_member_id or after.member_id)
    if endpoint_changed or (tasks_changed and after.user_endpoint is not None):
        group.endpoints.epoch += 1
    if group.endpoints.epoch != body.endpoint_information_epoch:
        gone = (after.member_id, change.replaced_member_id)
        others = [member for member in group.members.values() if member.member_id not in gone]
        image = change.shard.node.image
        response.partitions_by_user_endpoint = group.endpoints.of_members([*others, after], change.configured, image)
    if group.group_id in change.shard.groups:
        response.endpoint_information_epoch = group.endpoints.epoch


def _add_shutdown_status(change: StreamsGroupChange) -> None:
    member_id = change.group.shutdown_request_member_id
    if member_id is not None:
        detail = (
            f"Streams group member {member_id} encountered a fatal error and requested a shutdown for the entire "
            "application."
        )
        change.statuses.append(HeartbeatStatus.SHUTDOWN_APPLICATION.with_detail(detail))


def _add_client_tags_status(change: StreamsGroupChange) -> None:
    required = [tag.strip() for tag in change.configs.get(RACK_AWARE_ASSIGNMENT_TAGS, "").split(",") if tag.strip()]
    missing = [tag for tag in required if tag not in change.updated.client_tags]
    if missing:
        detail = (
            f"Missing required client tags for rack-aware standby assignment: [{', '.join(missing)}]. "
            "Configure them via 'client.tag.<tagKey>' in your Streams config."
        )
        change.statuses.append(HeartbeatStatus.MISSING_CLIENT_TAGS.with_detail(detail))
