"""The input and the result of a task assignor (KIP-1071).

Members are in the order in which Apache Kafka walks over them; an assignment may depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from ..members.member_task_offsets import OffsetsByTask
from ..members.tasks_tuple import Tasks


class AssignmentMember(NamedTuple):
    """A member, and the tasks that it has now."""

    instance_id: str | None
    rack_id: str | None
    process_id: str
    client_tags: Mapping[str, str]
    active_tasks: Tasks
    standby_tasks: Tasks
    warmup_tasks: Tasks
    task_offsets: OffsetsByTask
    task_end_offsets: OffsetsByTask


class TaskGroupSpec(NamedTuple):
    """The members by their ids, and the configurations of the assignment."""

    members: Mapping[str, AssignmentMember]
    num_standby_replicas: int
    rack_aware_assignment_tags: Sequence[str]


class TopologyDescriber(Protocol):
    """Describes the subtopologies to an assignor."""

    def subtopologies(self) -> Sequence[str]: ...

    def max_num_input_partitions(self, subtopology_id: str) -> int: ...

    def is_stateful(self, subtopology_id: str) -> bool: ...


class MemberTasks(NamedTuple):
    """The tasks that an assignor gives to a member."""

    active_tasks: Tasks
    standby_tasks: Tasks


class TaskAssignorError(Exception):
    """An assignor cannot assign the tasks."""


class TaskAssignor(Protocol):
    """Assigns the tasks of a topology to the members of a group."""

    name: str

    def assign(self, spec: TaskGroupSpec, topology: TopologyDescriber) -> Mapping[str, MemberTasks]:
        """Returns member id -> tasks. Raises TaskAssignorError."""
        ...
