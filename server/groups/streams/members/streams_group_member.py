"""A member of a streams group, as its records describe it (KIP-1071).

An update is another value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafkadouble.messages.generated.streams_group_current_member_assignment_record import (
    StreamsGroupCurrentMemberAssignmentValue,
)
from kafkadouble.messages.generated.streams_group_member_metadata_record import StreamsGroupMemberMetadataValue

from .streams_member_state import StreamsMemberState
from .tasks_tuple import NO_TASKS_WITH_EPOCHS, TasksTupleWithEpochs, TasksWithEpochs, tasks_of

CurrentAssignment = StreamsGroupCurrentMemberAssignmentValue

LEAVE_GROUP_MEMBER_EPOCH = -1
"""The epoch with which a member leaves, and the one of a member whose assignment was deleted."""

LEAVE_GROUP_STATIC_MEMBER_EPOCH = -2
"""The epoch with which a static member leaves for a while, and the one that it has meanwhile."""


class UserEndpoint(NamedTuple):
    """The endpoint at which a client answers interactive queries (`application.server`)."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsGroupMember:
    """`process_id` is the same for all members of one Streams application instance."""

    member_id: str
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: StreamsMemberState = StreamsMemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    user_endpoint: UserEndpoint | None = None
    client_tags: Mapping[str, str] = field(default_factory=dict)
    assigned_tasks: TasksTupleWithEpochs = NO_TASKS_WITH_EPOCHS
    tasks_pending_revocation: TasksTupleWithEpochs = NO_TASKS_WITH_EPOCHS

    def is_reconciled_to(self, target_assignment_epoch: int) -> bool:
        """Returns whether the member has its target assignment of this epoch."""
        return self.state is StreamsMemberState.STABLE and self.member_epoch == target_assignment_epoch

    def with_metadata(self, value: StreamsGroupMemberMetadataValue) -> StreamsGroupMember:
        """Returns the member after a metadata record."""
        endpoint = value.user_endpoint
        return replace(
            self,
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            topology_epoch=value.topology_epoch,
            process_id=value.process_id,
            user_endpoint=None if endpoint is None else UserEndpoint(endpoint.host, endpoint.port),
            client_tags={tag.key: tag.value for tag in value.client_tags},
        )

    def with_current_assignment(self, value: CurrentAssignment) -> StreamsGroupMember:
        """Returns the member after a record of its current assignment."""
        epoch = value.member_epoch
        return replace(
            self,
            member_epoch=epoch,
            previous_member_epoch=value.previous_member_epoch,
            state=StreamsMemberState.of(value.state),
            assigned_tasks=TasksTupleWithEpochs(
                _active_tasks(value.active_tasks, epoch), tasks_of(value.standby_tasks), tasks_of(value.warmup_tasks)
            ),
            tasks_pending_revocation=TasksTupleWithEpochs(
                _active_tasks(value.active_tasks_pending_revocation, epoch),
                tasks_of(value.standby_tasks_pending_revocation),
                tasks_of(value.warmup_tasks_pending_revocation),
            ),
        )

    def without_current_assignment(self) -> StreamsGroupMember:
        """Returns the member after the tombstone of its current assignment."""
        return replace(
            self,
            member_epoch=LEAVE_GROUP_MEMBER_EPOCH,
            previous_member_epoch=LEAVE_GROUP_MEMBER_EPOCH,
            assigned_tasks=NO_TASKS_WITH_EPOCHS,
            tasks_pending_revocation=NO_TASKS_WITH_EPOCHS,
        )


def _active_tasks(task_ids: object, member_epoch: int) -> TasksWithEpochs:
    """Reads active tasks; without epochs, or with too few, all have the epoch of the member."""
    found: dict[str, dict[int, int]] = {}
    for each in task_ids:  # type: ignore[attr-defined]
        epochs = each.assignment_epochs
        if epochs is None or len(epochs) != len(each.partitions):
            found[each.subtopology_id] = dict.fromkeys(each.partitions, member_epoch)
        else:
            found[each.subtopology_id] = dict(zip(each.partitions, epochs, strict=True))
    return found
