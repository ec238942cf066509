"""StreamsGroupDescribe: the topology of a streams group, its members, what they have and what they
are to have (KIP-1071)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkadouble.messages.generated.streams_group_describe import StreamsGroupDescribeResponse

from .assignors import task_assignor
from .members.member_task_offsets import OffsetsByTask
from .members.streams_group_member import StreamsGroupMember
from .members.tasks_tuple import NO_TASKS, TasksTuple, TasksTupleWithEpochs
from .streams_group import StreamsGroup

DescribedGroup = StreamsGroupDescribeResponse.DescribedGroup
DescribedMember = StreamsGroupDescribeResponse.Member
TaskIds = StreamsGroupDescribeResponse.TaskIds
TaskOffset = StreamsGroupDescribeResponse.TaskOffset


def describe(group: StreamsGroup) -> DescribedGroup:
    """Returns the group as it is. A topology that is not configured is shown as it was
    requested."""
    configured = group.configured_topology
    requested = None if group.topology is None else group.topology.described()
    is_ready = configured is not None and configured.is_ready
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.metadata.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=task_assignor(group.shard, group.group_id).name,
        topology=configured.described() if configured is not None and is_ready else requested,
        members=[_member(group, member) for member in group.members.values()],
    )


def _member(group: StreamsGroup, member: StreamsGroupMember) -> DescribedMember:
    endpoint, offsets = member.user_endpoint, group.task_offsets_of(member.member_id)
    return DescribedMember(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else StreamsGroupDescribeResponse.Endpoint(**endpoint._asdict()),
        client_tags=[
            StreamsGroupDescribeResponse.KeyValue(key=key, value=value)
            for key, value in sorted(member.client_tags.items())
        ],
        task_offsets=_task_offsets(offsets.task_offsets),
        task_end_offsets=_task_offsets(offsets.task_end_offsets),
        assignment=_assignment(member.assigned_tasks),
        target_assignment=_assignment(group.target_assignment.get(member.member_id, NO_TASKS)),
    )


def _assignment(tasks: TasksTuple | TasksTupleWithEpochs) -> StreamsGroupDescribeResponse.Assignment:
    return StreamsGroupDescribeResponse.Assignment(
        active_tasks=_task_ids(tasks.active),
        standby_tasks=_task_ids(tasks.standby),
        warmup_tasks=_task_ids(tasks.warmup),
    )


def _task_ids(tasks: Mapping[str, Iterable[int]]) -> list[TaskIds]:
    return [TaskIds(subtopology_id=id, partitions=sorted(partitions)) for id, partitions in sorted(tasks.items())]


def _task_offsets(offsets: OffsetsByTask) -> list[TaskOffset]:
    return [
        TaskOffset(subtopology_id=id, partition=partition, offset=offset)
        for id, by_partition in sorted(offsets.items())
        for partition, offset in sorted(by_partition.items())
    ]
