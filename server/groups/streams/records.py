"""The records of streams groups in `__consumer_offsets` (Kafka: `StreamsCoordinatorRecordHelpers`).

Lists are sorted, as in Kafka, so that equal states have equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from kafkadouble.messages.generated.streams_group_current_member_assignment_record import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
)
from kafkadouble.messages.generated.streams_group_member_metadata_record import (
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
)
from kafkadouble.messages.generated.streams_group_metadata_record import (
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
)
from kafkadouble.messages.generated.streams_group_target_assignment_member_record import (
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
)
from kafkadouble.messages.generated.streams_group_target_assignment_metadata_record import (
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
)
from kafkadouble.messages.generated.streams_group_topology_record import (
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)

from ...coordinator.coordinator_record import CoordinatorRecord
from ..modern.tombstones import MemberKeys
from .members.streams_group_member import StreamsGroupMember
from .members.tasks_tuple import Tasks, TasksTuple, TasksWithEpochs

T = TypeVar("T")

NO_STORED_DESCRIPTION = -1
"""The stored topology epoch of a group whose topology description is not stored (KIP-1223)."""


class StreamsGroupMetadata(NamedTuple):
    """The content of the metadata record of a group. The description epochs are those of a plugin
    that stores topology descriptions, which only Apache Kafka can have."""

    epoch: int = 1
    metadata_hash: int = 0
    validated_topology_epoch: int = -1
    assignment_configs: Mapping[str, str] = {}
    stored_description_topology_epoch: int = NO_STORED_DESCRIPTION
    failed_description_topology_epoch: int = NO_STORED_DESCRIPTION

    @classmethod
    def of(cls, value: StreamsGroupMetadataValue) -> StreamsGroupMetadata:
        """Reads a record."""
        return cls(
            value.epoch,
            value.metadata_hash,
            value.validated_topology_epoch,
            {config.key: config.value for config in value.last_assignment_configs or ()},
            value.stored_description_topology_epoch,
            value.failed_description_topology_epoch,
        )


def member_record(group_id: str, member: StreamsGroupMember) -> CoordinatorRecord:
    """Returns the record of a member's own metadata."""
    of, endpoint = StreamsGroupMemberMetadataValue, member.user_endpoint
    value = of(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else of.Endpoint(host=endpoint.host, port=endpoint.port),
        client_tags=[of.KeyValue(key=key, value=tag) for key, tag in sorted(member.client_tags.items())],
    )
    return CoordinatorRecord(StreamsGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id), value)


def metadata_record(group_id: str, metadata: StreamsGroupMetadata) -> CoordinatorRecord:
    """Returns the record of the group itself."""
    of = StreamsGroupMetadataValue
    value = of(
        epoch=metadata.epoch,
        metadata_hash=metadata.metadata_hash,
        validated_topology_epoch=metadata.validated_topology_epoch,
        last_assignment_configs=[
            of.LastAssignmentConfig(key=key, value=text) for key, text in sorted(metadata.assignment_configs.items())
        ],
        stored_description_topology_epoch=metadata.stored_description_topology_epoch,
        failed_description_topology_epoch=metadata.failed_description_topology_epoch,
    )
    return CoordinatorRecord(StreamsGroupMetadataKey(group_id=group_id), value)


def target_assignment_record(group_id: str, member_id: str, tasks: TasksTuple) -> CoordinatorRecord:
    """Returns the record of the target assignment of a member."""
    of = StreamsGroupTargetAssignmentMemberValue
    value = of(
        active_tasks=_task_ids(of.TaskIds, tasks.active),
        standby_tasks=_task_ids(of.TaskIds, tasks.standby),
        warmup_tasks=_task_ids(of.TaskIds, tasks.warmup),
    )
    return CoordinatorRecord(StreamsGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), value)


def target_assignment_metadata_record(group_id: str, epoch: int, timestamp: int) -> CoordinatorRecord:
    """Returns the record of the target assignment itself. `timestamp` (ms) is when it was computed;
    0 lets the next one be computed at once."""
    value = StreamsGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=timestamp)
    return CoordinatorRecord(StreamsGroupTargetAssignmentMetadataKey(group_id=group_id), value)


def current_assignment_record(group_id: str, member: StreamsGroupMember) -> CoordinatorRecord:
    """Returns the record of the epoch, the state and the tasks of a member."""
    of, assigned, pending = (
        StreamsGroupCurrentMemberAssignmentValue,
        member.assigned_tasks,
        member.tasks_pending_revocation,
    )
    value = of(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=member.state,
        active_tasks=_task_ids_with_epochs(assigned.active),
        standby_tasks=_task_ids(of.TaskIds, assigned.standby),
        warmup_tasks=_task_ids(of.TaskIds, assigned.warmup),
        active_tasks_pending_revocation=_task_ids_with_epochs(pending.active),
        standby_tasks_pending_revocation=_task_ids(of.TaskIds, pending.standby),
        warmup_tasks_pending_revocation=_task_ids(of.TaskIds, pending.warmup),
    )
    key = StreamsGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id)
    return CoordinatorRecord(key, value)


def topology_record(group_id: str, value: StreamsGroupTopologyValue) -> CoordinatorRecord:
    """Returns the record of the group's topology."""
    return CoordinatorRecord(StreamsGroupTopologyKey(group_id=group_id), value)


MEMBER_KEYS = MemberKeys(
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupMemberMetadataKey,
    StreamsGroupTargetAssignmentMetadataKey,
    (StreamsGroupMetadataKey, StreamsGroupTopologyKey),
)
member_tombstones = MEMBER_KEYS.member_tombstones
group_tombstones = MEMBER_KEYS.group_tombstones


def _task_ids(struct: type[T], tasks: Tasks) -> list[T]:
    make: type = struct
    return [make(subtopology_id=id, partitions=sorted(partitions)) for id, partitions in sorted(tasks.items())]


def _task_ids_with_epochs(tasks: TasksWithEpochs) -> list[StreamsGroupCurrentMemberAssignmentValue.TaskIds]:
    found = []
    for id, epochs in sorted(tasks.items()):
        partitions = sorted(epochs)
        in_order = [epochs[partition] for partition in partitions]
        found.append(
            StreamsGroupCurrentMemberAssignmentValue.TaskIds(
                subtopology_id=id, partitions=partitions, assignment_epochs=in_order
            )
        )
    return found
