"""Which processes run which tasks of a streams group now.

A task has one active process. Its standby and warm-up copies are in several processes, but never
twice in one: the copies of one process would share a directory. So a task moves between the members
of a process only when the first of them has released it.
"""

from __future__ import annotations

from .tasks_tuple import Tasks, TasksTupleWithEpochs

Task = tuple[str, int]
"""Subtopology id and partition."""

NO_PROCESSES: frozenset[str] = frozenset()


class TaskProcessIds:
    """The processes of all tasks that members have or still have to revoke."""

    def __init__(self) -> None:
        self._active: dict[Task, str] = {}
        self._standby: dict[Task, frozenset[str]] = {}
        self._warmup: dict[Task, frozenset[str]] = {}

    def active(self, task: Task) -> str | None:
        """Returns the process that runs the task."""
        return self._active.get(task)

    def standby(self, task: Task) -> frozenset[str]:
        """Returns the processes that have a standby copy of the task."""
        return self._standby.get(task, NO_PROCESSES)

    def warmup(self, task: Task) -> frozenset[str]:
        """Returns the processes that warm the task up."""
        return self._warmup.get(task, NO_PROCESSES)

    def add(self, tasks: TasksTupleWithEpochs, process_id: str) -> None:
        """The process has these tasks."""
        self._active.update(((id, index), process_id) for id, epochs in tasks.active.items() for index in epochs)
        _add(self._standby, tasks.standby, process_id)
        _add(self._warmup, tasks.warmup, process_id)

    def remove(self, tasks: TasksTupleWithEpochs, process_id: str) -> None:
        """The process no longer has these tasks. An active task may be another process's by now."""
        for id, epochs in tasks.active.items():
            for index in epochs:
                if self._active.get((id, index)) == process_id:
                    del self._active[id, index]
        _remove(self._standby, tasks.standby, process_id)
        _remove(self._warmup, tasks.warmup, process_id)

    def __repr__(self) -> str:
        return f"{len(self._active)} active, {len(self._standby)} standby, {len(self._warmup)} warm-up tasks"


def _add(processes: dict[Task, frozenset[str]], tasks: Tasks, process_id: str) -> None:
    for id, partitions in tasks.items():
        for index in partitions:
            processes[id, index] = processes.get((id, index), NO_PROCESSES) | {process_id}


def _remove(processes: dict[Task, frozenset[str]], tasks: Tasks, process_id: str) -> None:
    for id, partitions in tasks.items():
        for index in partitions:
            left = processes.pop((id, index), NO_PROCESSES) - {process_id}
            if left:
                processes[id, index] = left
