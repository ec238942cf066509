"""The tasks of one process, which are divided between its members.

A member is one thread of a Kafka Streams application, and a process one instance of it. The load of
a process is its tasks per member; a task has at most one copy in a process.
"""

from __future__ import annotations

from ....java.hash_tables import JavaHashMap, string_hash
from ....java.priority_queue import JavaPriorityQueue
from .task_id import TaskId


class ProcessState:
    """One process, to which members are added first, and then tasks."""

    def __init__(self) -> None:
        self.load = 0.0
        self.active_tasks: dict[str, list[TaskId]] = {}
        self.standby_tasks: dict[str, list[TaskId]] = {}
        self._task_counts: JavaHashMap[str, int] = JavaHashMap(string_hash)
        self._tasks: set[TaskId] = set()
        self._task_count = 0
        # The members by their task counts, while tasks go only to the least loaded member.
        self._by_load: JavaPriorityQueue[tuple[int, str]] | None = None

    def add_member(self, member_id: str) -> None:
        """Adds a member without tasks."""
        self._task_counts.put(member_id, 0)

    def task_count(self, member_id: str) -> int:
        """Returns how many tasks a member has."""
        return self._task_counts[member_id]

    def has_task(self, task: TaskId) -> bool:
        """Returns whether a member of the process has the task, active or standby."""
        return task in self._tasks

    def add_task(self, member_id: str, task: TaskId, *, active: bool) -> int:
        """Gives a task to a member; returns how many it has then."""
        self._by_load = None
        return self._add(member_id, task, active)

    def add_task_to_least_loaded_member(self, task: TaskId, *, active: bool) -> int:
        """Gives a task to the member with the fewest tasks; returns how many it has then."""
        if self._by_load is None:
            counts = ((count, member_id) for member_id, count in self._task_counts.items())
            self._by_load = JavaPriorityQueue(lambda each: each[0], counts)
        least = self._by_load.poll()
        assert least is not None
        _, member_id = least
        count = self._add(member_id, task, active)
        self._by_load.add((count, member_id))
        return count

    def _add(self, member_id: str, task: TaskId, active: bool) -> int:
        tasks = self.active_tasks if active else self.standby_tasks
        tasks.setdefault(member_id, []).append(task)
        self._tasks.add(task)
        self._task_count += 1
        self.load = self._task_count / len(self._task_counts)
        count = self._task_counts[member_id] + 1
        self._task_counts.put(member_id, count)
        return count
