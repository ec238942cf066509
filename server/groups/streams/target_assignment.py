"""Computes the target assignment of a streams group (Kafka: `TargetAssignmentBuilder`).

While the topology is not ready, no member has tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkadouble.messages import error_codes

from ...coordinator.timeline_hash_map import overlaid_order
from ...java.hash_tables import hash_map_order, string_hash
from ...requests.request import Refusal
from .assignor.task_assignor import AssignmentMember, MemberTasks, TaskAssignorError, TaskGroupSpec
from .assignors import task_assignor
from .group_configs import NUM_STANDBY_REPLICAS, RACK_AWARE_ASSIGNMENT_TAGS
from .members.member_task_offsets import MemberTaskOffsets
from .members.streams_group_member import StreamsGroupMember
from .members.tasks_tuple import NO_TASKS, Tasks, TasksTuple
from .membership import StreamsGroupMembership
from .topics.configured_topology import ConfiguredSubtopology, ConfiguredTopology

DEFAULT_STANDBY_REPLICAS = "0"


class ConfiguredTopologyDescriber(NamedTuple):
    """Describes a topology that is ready to an assignor."""

    by_id: Mapping[str, ConfiguredSubtopology]

    def subtopologies(self) -> list[str]:
        return [*self.by_id]

    def max_num_input_partitions(self, subtopology_id: str) -> int:
        return self.by_id[subtopology_id].number_of_tasks

    def is_stateful(self, subtopology_id: str) -> bool:
        return bool(self.by_id[subtopology_id].state_changelog_topics)


def can_compute_next_target_assignment(group: StreamsGroupMembership, interval_ms: int, now: int) -> bool:
    """Returns whether the interval between two assignments is over."""
    timestamp = group.assignment_timestamp
    return timestamp == 0 or interval_ms == 0 or now >= timestamp + interval_ms


def compute_target_assignment(
    group: StreamsGroupMembership,
    epoch: int,
    members: Mapping[str, StreamsGroupMember],
    topology: ConfiguredTopology,
    configs: Mapping[str, str],
) -> dict[str, TasksTuple]:
    """Returns member id -> tasks. Raises Refusal(UNKNOWN_SERVER_ERROR) if the assignor fails."""
    if not topology.is_ready or topology.subtopologies is None:
        return dict.fromkeys(members, NO_TASKS)
    tags = configs.get(RACK_AWARE_ASSIGNMENT_TAGS, "")
    in_order = hash_map_order(overlaid_order(group.members, members, string_hash), string_hash)
    spec = TaskGroupSpec(
        {id: _assignment_member(members[id], group.task_offsets_of(id)) for id in in_order},
        int(configs.get(NUM_STANDBY_REPLICAS, DEFAULT_STANDBY_REPLICAS)),
        tags.split(",") if tags else [],
    )
    try:
        assigned = task_assignor(group.shard, group.group_id).assign(
            spec, ConfiguredTopologyDescriber(topology.subtopologies)
        )
    except TaskAssignorError as problem:
        message = f"Failed to compute a new target assignment for epoch {epoch}: {problem}"
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR, message) from problem
    return {id: _tasks_tuple(assigned.get(id)) for id in in_order}


def _assignment_member(member: StreamsGroupMember, offsets: MemberTaskOffsets) -> AssignmentMember:
    tasks = member.assigned_tasks.without_epochs()
    return AssignmentMember(
        member.instance_id,
        member.rack_id,
        member.process_id,
        member.client_tags,
        tasks.active,
        tasks.standby,
        tasks.warmup,
        offsets.task_offsets,
        offsets.task_end_offsets,
    )


def _tasks_tuple(assigned: MemberTasks | None) -> TasksTuple:
    """Returns what an assignor gave to a member; it never gives warm-up tasks."""
    return NO_TASKS if assigned is None else TasksTuple(_copied(assigned.active_tasks), _copied(assigned.standby_tasks))


def _copied(tasks: Tasks) -> Tasks:
    return {id: frozenset(partitions) for id, partitions in tasks.items()}
