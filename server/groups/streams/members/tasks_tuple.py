"""Tasks of a streams group by role: active, standby and warm-up tasks (KIP-1071).

A task is a subtopology and a partition. An active task of a current assignment also has the group
epoch in which it was assigned; offsets of an older member epoch are fenced by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Protocol

from .distinct_keys import with_distinct_keys

Tasks = Mapping[str, Set[int]]
"""Subtopology id -> partitions. A subtopology without partitions has no entry."""

TasksWithEpochs = Mapping[str, Mapping[int, int]]
"""Subtopology id -> partition -> the epoch in which the task was assigned."""


class TaskIdsLike(Protocol):
    """The struct TaskIds of a request or a record."""

    subtopology_id: Any
    partitions: Any


def tasks_of(task_ids: Iterable[TaskIdsLike]) -> Tasks:
    """Reads tasks of a request or a record. Raises Refusal(UNKNOWN_SERVER_ERROR), as Kafka fails,
    if a subtopology appears twice."""
    return with_distinct_keys((ids.subtopology_id, frozenset(ids.partitions)) for ids in task_ids)


def contains_any(tasks: Tasks, others: Mapping[str, Iterable[int]]) -> bool:
    """Returns whether any of the tasks is among the others."""
    return any(not partitions.isdisjoint(others.get(id, ())) for id, partitions in tasks.items())


def merge_tasks(tasks: Tasks, others: Tasks) -> Tasks:
    """Returns the tasks of both."""
    return {id: tasks.get(id, frozenset()) | others.get(id, frozenset()) for id in {**tasks, **others}}


@dataclass(frozen=True, slots=True)
class TasksTuple:
    """A target assignment, or the tasks that a member owns."""

    active: Tasks = field(default_factory=dict)
    standby: Tasks = field(default_factory=dict)
    warmup: Tasks = field(default_factory=dict)

    @classmethod
    def of(cls, source: Any) -> TasksTuple:
        """Reads the tasks of a request or of a target assignment record."""
        return cls(tasks_of(source.active_tasks), tasks_of(source.standby_tasks), tasks_of(source.warmup_tasks))

    @property
    def is_empty(self) -> bool:
        return not (self.active or self.standby or self.warmup)

    def contains_any(self, other: TasksTupleWithEpochs) -> bool:
        """Returns whether any task is in `other` in the same role."""
        return (
            contains_any(self.active, other.active)
            or contains_any(self.standby, other.standby)
            or contains_any(self.warmup, other.warmup)
        )

    def has_same_tasks(self, other: TasksTupleWithEpochs) -> bool:
        """Returns whether `other` has the same tasks in the same roles."""
        return self == other.without_epochs()


@dataclass(frozen=True, slots=True)
class TasksTupleWithEpochs:
    """A current assignment of a member, or its tasks pending revocation."""

    active: TasksWithEpochs = field(default_factory=dict)
    standby: Tasks = field(default_factory=dict)
    warmup: Tasks = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not (self.active or self.standby or self.warmup)

    @property
    def standby_and_warmup(self) -> Tasks:
        return merge_tasks(self.standby, self.warmup)

    def without_epochs(self) -> TasksTuple:
        active = {id: frozenset(partitions) for id, partitions in self.active.items()}
        return TasksTuple(active, self.standby, self.warmup)

    def merged(self, other: TasksTupleWithEpochs) -> TasksTupleWithEpochs:
        """Returns the tasks of both; epochs of `other` win."""
        ids = {**self.active, **other.active}
        active = {id: {**self.active.get(id, {}), **other.active.get(id, {})} for id in ids}
        return TasksTupleWithEpochs(
            active, merge_tasks(self.standby, other.standby), merge_tasks(self.warmup, other.warmup)
        )

    def with_epochs_of_zero(self) -> TasksTupleWithEpochs:
        """Returns the same tasks as if they were assigned in epoch 0."""
        active = {id: dict.fromkeys(partitions, 0) for id, partitions in self.active.items()}
        return TasksTupleWithEpochs(active, self.standby, self.warmup)


NO_TASKS = TasksTuple()
NO_TASKS_WITH_EPOCHS = TasksTupleWithEpochs()
