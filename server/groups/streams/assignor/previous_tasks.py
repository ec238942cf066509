"""Which members had a task before, or have some of its state.

Kafka prefers these for the task: the member where it was active; then the members where it was a
standby task, and those that have its state on disk, the most complete state first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .task_assignor import AssignmentMember, TaskGroupSpec
from .task_id import TaskId


class PreviousMember(NamedTuple):
    """A member that had a task, and its process."""

    process_id: str
    member_id: str


class StandbyCandidate(NamedTuple):
    """A member for a standby task. `offset_sum` tells how much state it has; it is as large as the
    changelog offsets of the task together."""

    member: PreviousMember
    is_previous_standby: bool
    offset_sum: int


class PreviousTasks:
    """The previous tasks of a group."""

    def __init__(self, spec: TaskGroupSpec) -> None:
        self._active: dict[TaskId, PreviousMember] = {}
        candidates: dict[TaskId, list[StandbyCandidate]] = {}
        for member_id, state in spec.members.items():
            member = PreviousMember(state.process_id, member_id)
            for subtopology_id, partitions in state.active_tasks.items():
                # Of several members, the last one counts.
                self._active.update((TaskId(subtopology_id, partition), member) for partition in partitions)
            for task, candidate in _standby_candidates(member, state):
                candidates.setdefault(task, []).append(candidate)
        self._standby = {task: _ranked(candidate) for task, candidate in candidates.items()}

    def active_member(self, task: TaskId) -> PreviousMember | None:
        """Returns the member where the task was active."""
        return self._active.get(task)

    def standby_members(self, task: TaskId) -> list[PreviousMember]:
        """Returns the members that are candidates for a standby task, the best first."""
        return self._standby.get(task, [])


def _standby_candidates(member: PreviousMember, state: AssignmentMember) -> Iterator[tuple[TaskId, StandbyCandidate]]:
    for subtopology_id, partitions in state.standby_tasks.items():
        offsets = state.task_offsets.get(subtopology_id, {})
        for partition in partitions:
            yield TaskId(subtopology_id, partition), StandbyCandidate(member, True, offsets.get(partition, 0))
    for subtopology_id, offsets in state.task_offsets.items():
        for partition, offset_sum in offsets.items():
            if partition not in state.standby_tasks.get(subtopology_id, ()):
                yield TaskId(subtopology_id, partition), StandbyCandidate(member, False, offset_sum)


def _ranked(candidates: list[StandbyCandidate]) -> list[PreviousMember]:
    ordered = sorted(candidates, key=lambda candidate: (not candidate.is_previous_standby, -candidate.offset_sum))
    return [candidate.member for candidate in ordered]
