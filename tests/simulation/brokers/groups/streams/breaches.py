"""Faulty variants of parts of streams groups, for the mutations: each breaks one rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kafkadouble.messages.generated.streams_group_target_assignment_member_record import (
    StreamsGroupTargetAssignmentMemberKey,
)
from kafkadouble.messages.message import Message
from kafkadouble.server.groups.group_coordinator_shard import GroupCoordinatorShard
from kafkadouble.server.groups.streams.current_assignment import Reconciliation, _NextAssignment
from kafkadouble.server.groups.streams.group_change import StreamsGroupChange
from kafkadouble.server.groups.streams.members.streams_group_member import StreamsGroupMember
from kafkadouble.server.groups.streams.members.task_process_ids import TaskProcessIds
from kafkadouble.server.groups.streams.members.tasks_tuple import TasksTupleWithEpochs
from kafkadouble.server.groups.streams.streams_group import StreamsGroup
from kafkadouble.server.groups.streams.topics.configured_topology import ConfiguredInternalTopic, CreatableTopic

_replay, _member, _add = GroupCoordinatorShard.replay, _NextAssignment.member, TaskProcessIds.add
_creatable, _compute = ConfiguredInternalTopic.creatable, StreamsGroupChange._compute_target_assignment


def has_released(of: Reconciliation, tasks: TasksTupleWithEpochs) -> bool:
    """The member is not waited for."""
    return False


def gives_all_in_the_old_epoch(of: Any, epoch_while_revoking: int) -> StreamsGroupMember:
    """The member stays in its epoch with the next assignment."""
    return replace(_member(of, epoch_while_revoking), member_epoch=max(of._of.member.member_epoch, 1))


def forgets_targets(shard: GroupCoordinatorShard, offset: int, producer_id: int, key: Message, value: Any) -> None:
    """A coordinator that loads or writes a target assignment does not take it over."""
    if not isinstance(key, StreamsGroupTargetAssignmentMemberKey):
        _replay(shard, offset, producer_id, key, value)


def runs_nothing(processes: TaskProcessIds, task: Any) -> None:
    """No process is known to run a task."""


def forgets_what_is_revoked(group: StreamsGroup, member: StreamsGroupMember) -> None:
    """A task that is being revoked may be given to another member."""
    group._forget(group.members.get(member.member_id))
    group.members[member.member_id], group._state = member, None
    group.processes.add(member.assigned_tasks, member.process_id)
    if member.instance_id is not None:
        group.static_members[member.instance_id] = member.member_id


def has_one_partition(topic: ConfiguredInternalTopic) -> CreatableTopic:
    made = _creatable(topic)
    made.num_partitions = 1
    return made


def no_tasks(*_: Any) -> list[Any]:
    return []


def has_not_expired(*_: Any) -> bool:
    """The topics of a group are looked at once."""
    return False
