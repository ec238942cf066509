"""StreamsGroupHeartbeat: joins, stays in or leaves a streams group (KIP-1071).

A member joins with its topology, and reports the tasks that it owns. The response has the tasks
that the member is assigned, and statuses about the topology and its topics. The broker creates
missing internal topics. Version 1 adds the acceptable recovery lag as a long, and statuses about
client tags.

Difference from Apache Kafka: a broker that is the active controller itself creates the internal
topics at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

from ..groups.coordinator_group import STREAMS
from ..groups.features import requires_protocol
from ..metadata.internal_topics import INTERNAL_TOPICS
from ..metadata.topic_names import problem_with_name
from ..requests.request import Refusal, Request
from ..requests.slices import begun, divided
from ..requests.waiting import OTHERS_FIRST, SLICE, Wait, sliced
from ..security.acls import TOPIC
from ..security.authorizer import CREATE, DESCRIBE
from ..security.client_rights import ClientRights, client_rights

if TYPE_CHECKING:
    from ..groups.streams.heartbeat import StreamsGroupHeartbeatResult
    from ..handler_context import HandlerContext

Topology = StreamsGroupHeartbeatRequest.Topology

JOIN, LEAVE, LEAVE_STATIC = 0, -1, -2
"""The member epochs of a member that joins, leaves, or leaves as a static member that will
return."""

UNCHANGED = -1

ERRORS_SHOWN = 3
"""The largest number of topics that a status names because their creation failed."""


precheck = requires_protocol(STREAMS)


@begun
def answer(node: HandlerContext, request: Request[StreamsGroupHeartbeatRequest]) -> Wait[StreamsGroupHeartbeatResponse]:
    body = request.body
    rights = client_rights(node, request)
    if body.topology is not None:
        names = yield from _validate_topic_names(body.topology)
        if rights is not None:
            yield from sliced(partial(rights.require, DESCRIBE, TOPIC), names)
    _validate(body)
    from ..groups.streams.heartbeat import heartbeat, leave

    shard = node.groups.shard(body.group_id)
    leaves = body.member_epoch in (LEAVE, LEAVE_STATIC)
    result = leave(shard, body) if leaves else heartbeat(shard, request)
    if not result.internal_topics:
        return (yield from shard.wait_for_commit(result.response))
    return (yield from _with_internal_topics(node, rights, body.group_id, shard.wait_for_commit(result)))


def _with_internal_topics(
    node: HandlerContext, rights: ClientRights | None, group_id: str, commit: Wait[StreamsGroupHeartbeatResult]
) -> Wait[StreamsGroupHeartbeatResponse]:
    """Creates the topics after the heartbeat is committed. Adds the errors of failed creations to
    the status."""
    from ..groups.streams.members.heartbeat_status import HeartbeatStatus

    response, topics = yield from commit
    if len(topics) > SLICE:
        yield OTHERS_FIRST
    if rights is not None and (refused := _not_creatable(rights, topics)):
        _add_missing_status(response, f"Unauthorized to CREATE on topics {', '.join(refused)}.")
        return response
    retry_ms = 2 * node.groups.shard(group_id).int_group_config(group_id, "streams.heartbeat.interval.ms")
    errors = node.groups.internal_topics.errors(topics)
    node.groups.internal_topics.create(topics.values(), retry_ms)
    for status in response.status or ():
        if errors and status.status_code == HeartbeatStatus.MISSING_INTERNAL_TOPICS:
            status.status_detail += f"; Creation failed: {_shown_errors(errors)}."
    return response


def _not_creatable(rights: ClientRights, topics: Iterable[str]) -> list[str]:
    if rights.may_on_cluster(CREATE):
        return []
    return [name for name in topics if not rights.may(CREATE, TOPIC, name)]


def _add_missing_status(response: StreamsGroupHeartbeatResponse, detail: str) -> None:
    """Adds a detail to the status about missing internal topics, or adds this status."""
    from ..groups.streams.members.heartbeat_status import HeartbeatStatus

    missing = HeartbeatStatus.MISSING_INTERNAL_TOPICS
    for status in response.status or ():
        if status.status_code == missing:
            status.status_detail += f"; {detail}"
            return
    status = StreamsGroupHeartbeatResponse.Status(status_code=missing, status_detail=detail)
    response.status = [*(response.status or ()), status]


def _shown_errors(errors: dict[str, str]) -> str:
    shown = ", ".join(f"{name} ({message})" for name, message in [*errors.items()][:ERRORS_SHOWN])
    more = len(errors) - ERRORS_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _validate_topic_names(topology: Topology) -> Wait[list[str]]:
    """The topics of a topology. Raises Refusal(STREAMS_INVALID_TOPOLOGY)."""
    names = [*dict.fromkeys(name for subtopology in topology.subtopologies for name in _topics_of(subtopology))]
    invalid, _ = yield from divided(lambda name: problem_with_name(name) is not None, names)
    if prohibited := [name for name in names if name in INTERNAL_TOPICS]:
        message = f"Use of Kafka internal topics {','.join(prohibited)} in a Kafka Streams topology is prohibited."
        raise Refusal(error_codes.STREAMS_INVALID_TOPOLOGY, message)
    if invalid:
        message = f"Topic names {','.join(invalid)} are not valid topic names."
        raise Refusal(error_codes.STREAMS_INVALID_TOPOLOGY, message)
    return names


def _topics_of(subtopology: StreamsGroupHeartbeatRequest.Subtopology) -> Iterable[str]:
    yield from subtopology.source_topics
    yield from subtopology.repartition_sink_topics
    yield from (topic.name for topic in subtopology.repartition_source_topics)
    yield from (topic.name for topic in subtopology.state_changelog_topics)


def _validate(body: StreamsGroupHeartbeatRequest) -> None:
    """Raises Refusal: INVALID_REQUEST, STREAMS_INVALID_TOPOLOGY."""
    if body.topology is not None and any(subtopology.source_topic_regex for subtopology in body.topology.subtopologies):
        raise _invalid("Regular expressions for source topics are not supported yet.")
    _refuse_empty(body.member_id, "MemberId")
    _refuse_empty(body.group_id, "GroupId")
    _refuse_empty(body.instance_id, "InstanceId")
    _refuse_empty(body.rack_id, "RackId")
    if body.member_epoch == JOIN:
        _validate_join(body)
    elif body.member_epoch == LEAVE_STATIC and body.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif body.member_epoch < LEAVE_STATIC:
        raise _invalid(f"MemberEpoch is {body.member_epoch}, but must be greater than or equal to -2.")
    roles_absent = [tasks is None for tasks in (body.active_tasks, body.standby_tasks, body.warmup_tasks)]
    if any(roles_absent) and not all(roles_absent):
        raise _invalid("If one task-type is non-null, all must be non-null.")
    if body.member_epoch != JOIN and body.topology is not None:
        raise _invalid("Topology can only be provided when (re-)joining.")


def _refuse_empty(value: str | None, name: str) -> None:
    if value is not None and not value.strip():
        raise _invalid(f"{name} can't be empty.")


def _validate_join(body: StreamsGroupHeartbeatRequest) -> None:
    if body.rebalance_timeout_ms == UNCHANGED:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    for name, tasks in (("Active", body.active_tasks), ("Standby", body.standby_tasks), ("Warmup", body.warmup_tasks)):
        if tasks is None or tasks:
            raise _invalid(f"{name}Tasks must be empty when (re-)joining.")
    if body.topology is None:
        raise _invalid("Topology must be non-null when (re-)joining.")
    for subtopology in body.topology.subtopologies:
        for topic in subtopology.state_changelog_topics:
            if topic.partitions:
                message = (
                    f"Changelog topic {topic.name} must have an undefined partition count, "
                    f"but it is set to {topic.partitions}."
                )
                raise Refusal(error_codes.STREAMS_INVALID_TOPOLOGY, message)


def _invalid(message: str) -> Refusal:
    return Refusal(error_codes.INVALID_REQUEST, message)
