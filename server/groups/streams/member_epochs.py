"""Which member epochs the coordinator accepts (KIP-1071).

Heartbeats: the current epoch; also the previous one, if the member owns nothing but what it has: it
did not receive the last response. Commits: the current epoch; an older one for a partition whose
task was assigned in that epoch or before, since no other member has had the task after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kafkadouble.messages.uuid import Uuid

from ...requests.request import Refusal
from ..coordinator_group import STREAMS, CommitPartitionValidator, accept_partition
from ..modern.heartbeat_group import fenced_member_epoch
from .members.streams_group_member import StreamsGroupMember
from .topics.streams_topology import StreamsTopology

JOIN_GROUP_MEMBER_EPOCH = 0
"""The epoch with which a member joins."""

COMMIT_VERSION = 9
"""The first version of OffsetCommit whose clients know STALE_MEMBER_EPOCH."""


def validate_heartbeat(member: StreamsGroupMember, body: StreamsGroupHeartbeatRequest) -> None:
    """Checks the epoch of a heartbeat. Raises Refusal(FENCED_MEMBER_EPOCH)."""
    epoch, current = body.member_epoch, member.member_epoch
    if epoch in (JOIN_GROUP_MEMBER_EPOCH, current):
        return
    if epoch != member.previous_member_epoch or not _owns_only_assigned(member, body):
        raise fenced_member_epoch(STREAMS, epoch, current)


def _owns_only_assigned(member: StreamsGroupMember, body: StreamsGroupHeartbeatRequest) -> bool:
    assigned = member.assigned_tasks
    return (
        _is_subset(body.active_tasks, assigned.active)
        and _is_subset(body.standby_tasks, assigned.standby)
        and _is_subset(body.warmup_tasks, assigned.warmup)
    )


def _is_subset(
    owned: Iterable[StreamsGroupHeartbeatRequest.TaskIds] | None, assigned: Mapping[str, Iterable[int]]
) -> bool:
    if owned is None:
        return False
    return all(
        each.subtopology_id in assigned and set(each.partitions) <= set(assigned[each.subtopology_id]) for each in owned
    )


def validate_commit(
    topology: StreamsTopology | None, member: StreamsGroupMember, epoch: int, *, transactional: bool, version: int
) -> CommitPartitionValidator:
    """Checks the epoch of a commit; returns the check of each partition.

    Raises Refusal: UNSUPPORTED_VERSION, STALE_MEMBER_EPOCH.
    """
    if not transactional and version < COMMIT_VERSION:
        message = "OffsetCommit version 9 or above must be used by members using the streams group protocol"
        raise Refusal(error_codes.UNSUPPORTED_VERSION, message)
    if epoch == member.member_epoch:
        return accept_partition
    if epoch > member.member_epoch:
        raise _stale(f"Received member epoch {epoch} is newer than current member epoch {member.member_epoch}.")
    if topology is None:
        raise _stale("Topology is not available for offset commit validation.")

    def validate_partition(topic: str, topic_id: Uuid, partition: int) -> None:
        subtopology = topology.subtopology_of_source_topic.get(topic)
        if subtopology is None:
            raise _stale(f"Topic {topic} is not in the topology.")
        _validate_task(member, subtopology.subtopology_id, partition, epoch)

    return validate_partition


def _validate_task(member: StreamsGroupMember, id: str, partition: int, received: int) -> None:
    epoch = member.assigned_tasks.active.get(id, {}).get(partition)
    if epoch is None:
        epoch = member.tasks_pending_revocation.active.get(id, {}).get(partition)
    if epoch is None:
        raise _stale(f"Task {id}-{partition} is not assigned or pending revocation for member.")
    if received < epoch:
        message = f"Received member epoch {received} is older than assignment epoch {epoch} for task {id}-{partition}."
        raise _stale(message)


def validate_fetch(member: StreamsGroupMember, epoch: int) -> None:
    """Checks the epoch of a member that fetches offsets. Raises Refusal(STALE_MEMBER_EPOCH)."""
    if epoch != member.member_epoch:
        expected = member.member_epoch
        raise _stale(f"The received member epoch {epoch} does not match the expected member epoch {expected}.")


def _stale(message: str) -> Refusal:
    return Refusal(error_codes.STALE_MEMBER_EPOCH, message)
