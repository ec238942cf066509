"""Which offsets a member of a streams group may commit and fetch, by its member epoch (KIP-1071).

A commit with the member's own epoch is accepted. One with an older epoch is accepted for a partition
whose task was assigned in that epoch or before: no other member has had the task since.
"""

from __future__ import annotations

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ...requests.request import Refusal
from ..coordinator_group import CommitPartitionValidator, accept_partition
from .streams_group_member import StreamsGroupMember
from .topics.streams_topology import StreamsTopology

COMMIT_VERSION = 9
"""The first version of OffsetCommit whose clients know STALE_MEMBER_EPOCH."""


def check_commit_version(transactional: bool, version: int) -> None:
    """Check that the client knows the errors of member epochs. Raises UNSUPPORTED_VERSION."""
    if not transactional and version < COMMIT_VERSION:
        message = "OffsetCommit version 9 or above must be used by members using the streams group protocol"
        raise Refusal(error_codes.UNSUPPORTED_VERSION, message)


def commit_validator(
    topology: StreamsTopology | None, member: StreamsGroupMember, received_epoch: int
) -> CommitPartitionValidator:
    """Return the check of each partition for a member that sent this epoch.

    Raises Refusal(STALE_MEMBER_EPOCH).
    """
    if received_epoch == member.member_epoch:
        return accept_partition
    if received_epoch > member.member_epoch:
        raise _stale(
            f"Received member epoch {received_epoch} is newer than current member epoch {member.member_epoch}."
        )
    if topology is None:
        raise _stale("Topology is not available for offset commit validation.")

    def validate(topic: str, topic_id: Uuid, partition: int) -> None:
        subtopology = topology.subtopology_of_source_topic.get(topic)
        if subtopology is None:
            raise _stale(f"Topic {topic} is not in the topology.")
        _check_assignment_epoch(member, subtopology.subtopology_id, partition, received_epoch)

    return validate


def _check_assignment_epoch(member: StreamsGroupMember, id: str, partition: int, received_epoch: int) -> None:
    epoch = member.assigned_tasks.active.get(id, {}).get(partition)
    if epoch is None:
        epoch = member.tasks_pending_revocation.active.get(id, {}).get(partition)
    if epoch is None:
        raise _stale(f"Task {id}-{partition} is not assigned or pending revocation for member.")
    if received_epoch < epoch:
        raise _stale(
            f"Received member epoch {received_epoch} is older than assignment epoch {epoch} for task {id}-{partition}."
        )


def check_fetch_epoch(member: StreamsGroupMember, received_epoch: int) -> None:
    """Check the epoch of a member that fetches offsets. Raises STALE_MEMBER_EPOCH."""
    if received_epoch != member.member_epoch:
        raise _stale(
            f"The received member epoch {received_epoch} does not match the expected member epoch {member.member_epoch}."
        )


def _stale(message: str) -> Refusal:
    return Refusal(error_codes.STALE_MEMBER_EPOCH, message)
