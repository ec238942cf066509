"""The sticky task assignor of streams groups (KIP-1071): tasks stay where their state is.

Active tasks: first every task stays where it was active, then it goes to a member that has its
state; in both cases as long as the member has not got its quota. The others go to the process with
the least load. Standby tasks go, in the same order of preference, to processes that do not have the
task yet; if there are too few processes, some standby tasks are not assigned.

As Kafka 4.4.0's, it assigns no warm-up tasks, and it does not look at tags or racks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ....java.hash_tables import JavaHashMap, string_hash
from ....java.priority_queue import JavaPriorityQueue
from ....java.strings import java_order
from .previous_tasks import PreviousMember, PreviousTasks
from .process_state import ProcessState
from .task_assignor import MemberTasks, TaskAssignorError, TaskGroupSpec, TopologyDescriber
from .task_id import TaskId, task_ids


class TaskQuota:
    """How many tasks each member that has room should have, while tasks are being assigned.

    It is the tasks divided by the members, rounded up. When a member has that many, it and its
    tasks no longer count; so the remaining members may have to take fewer.
    """

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self._divide()

    def _divide(self) -> None:
        self.per_member = -(-self._tasks // self._members) if self._members else 0

    def on_task_added(self, task_count: int) -> None:
        """A member has this many tasks now."""
        if task_count == self.per_member:
            self._members -= 1
            self._tasks -= task_count
            self._divide()


class StickyTaskAssignor:
    """Assigns the tasks of a topology."""

    name = "sticky"

    def assign(self, spec: TaskGroupSpec, topology: TopologyDescriber) -> dict[str, MemberTasks]:
        """Returns member id -> tasks; raises TaskAssignorError."""
        return _TaskAssignment(spec, topology).build()


class _TaskAssignment:
    """One assignment of one group."""

    def __init__(self, spec: TaskGroupSpec, topology: TopologyDescriber) -> None:
        self._spec = spec
        self._active = task_ids(topology, only_stateful=False)
        self._stateful = task_ids(topology, only_stateful=True)
        copies = len(self._active) + len(self._stateful) * spec.num_standby_replicas
        self._active_quota = TaskQuota(len(self._active), len(spec.members))
        self._quota = TaskQuota(copies, len(spec.members))
        self._previous = PreviousTasks(spec)
        self._processes: JavaHashMap[str, ProcessState] = JavaHashMap(string_hash, len(spec.members))
        for member_id, member in spec.members.items():
            self._processes.compute_if_absent(member.process_id, ProcessState).add_member(member_id)

    def build(self) -> dict[str, MemberTasks]:
        self._assign_active()
        if self._spec.num_standby_replicas > 0:
            self._assign_standby()
        return {member_id: self._tasks_of(member_id) for member_id in self._spec.members}

    def _tasks_of(self, member_id: str) -> MemberTasks:
        process = self._processes[self._spec.members[member_id].process_id]
        return MemberTasks(
            _by_subtopology(process.active_tasks.get(member_id, ())),
            _by_subtopology(process.standby_tasks.get(member_id, ())),
        )

    def _by_load(self) -> JavaPriorityQueue[ProcessState]:
        return JavaPriorityQueue(lambda process: process.load, (process for _, process in self._processes.items()))

    # Active tasks.

    def _assign_active(self) -> None:
        tasks = sorted(self._active, key=_by_partition)
        tasks = self._assign_to_previous(tasks, self._previous.active_member)
        tasks = self._assign_to_previous(tasks, self._least_loaded_standby)
        queue = self._by_load()
        for task in sorted(tasks, key=_by_name):
            process = queue.poll()
            if process is None:
                raise TaskAssignorError(f"No process available to assign active task {task}.")
            self._on_active_task_added(process.add_task_to_least_loaded_member(task, active=True))
            queue.add(process)

    def _assign_to_previous(
        self, tasks: list[TaskId], previous: Callable[[TaskId], PreviousMember | None]
    ) -> list[TaskId]:
        """Returns the tasks that could not go to their previous member."""
        remaining = []
        for task in tasks:
            member = previous(task)
            if member is None or not self._has_room(member, self._active_quota):
                remaining.append(task)
                continue
            process = self._processes[member.process_id]
            self._on_active_task_added(process.add_task(member.member_id, task, active=True))
        return remaining

    def _on_active_task_added(self, task_count: int) -> None:
        self._active_quota.on_task_added(task_count)
        self._quota.on_task_added(task_count)

    def _has_room(self, member: PreviousMember, quota: TaskQuota) -> bool:
        return self._processes[member.process_id].task_count(member.member_id) < quota.per_member

    def _least_loaded_standby(self, task: TaskId) -> PreviousMember | None:
        return self._least_loaded(self._previous.standby_members(task))

    def _least_loaded(self, members: Iterable[PreviousMember]) -> PreviousMember | None:
        """Returns the first member, or a later one whose process and itself have less load."""
        best: PreviousMember | None = None
        process_load, member_load = 0.0, 0
        for member in members:
            process = self._processes[member.process_id]
            load, count = process.load, process.task_count(member.member_id)
            if best is None or (load < process_load and count < member_load):
                best, process_load, member_load = member, load, count
        return best

    # Standby tasks.

    def _assign_standby(self) -> None:
        remaining = [
            (task, self._assign_standby_to_previous(task))
            for task in sorted(self._stateful, key=_by_partition, reverse=True)
        ]
        queue = self._by_load()
        for task, copies in sorted(remaining, key=lambda each: _by_name(each[0]), reverse=True):
            for _ in range(copies):
                if not self._assign_standby_to_least_loaded(queue, task):
                    break

    def _assign_standby_to_previous(self, task: TaskId) -> int:
        """Returns how many copies of the task could not go to a previous member."""
        copies = self._spec.num_standby_replicas
        while copies > 0 and (member := self._previous_with_room(task)) is not None:
            count = self._processes[member.process_id].add_task(member.member_id, task, active=False)
            self._quota.on_task_added(count)
            copies -= 1
        return copies

    def _previous_with_room(self, task: TaskId) -> PreviousMember | None:
        active = self._previous.active_member(task)
        if active is not None and self._lacks(active, task) and self._has_room(active, self._quota):
            return active
        standbys = (member for member in self._previous.standby_members(task) if self._lacks(member, task))
        standby = self._least_loaded(standbys)
        return standby if standby is not None and self._has_room(standby, self._quota) else None

    def _lacks(self, member: PreviousMember, task: TaskId) -> bool:
        return not self._processes[member.process_id].has_task(task)

    def _assign_standby_to_least_loaded(self, queue: JavaPriorityQueue[ProcessState], task: TaskId) -> bool:
        """Assigns a copy to the first process that does not have the task; returns whether there is
        one."""
        polled: list[ProcessState] = []
        found = False
        while not found and (process := queue.poll()) is not None:
            polled.append(process)
            if not process.has_task(task):
                self._quota.on_task_added(process.add_task_to_least_loaded_member(task, active=False))
                found = True
        # The last one returns to the queue first.
        for process in reversed(polled):
            queue.add(process)
        return found


def _by_subtopology(tasks: Iterable[TaskId]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for task in tasks:
        found.setdefault(task.subtopology_id, set()).add(task.partition)
    return found


def _by_partition(task: TaskId) -> tuple[int, bytes]:
    return task.partition, java_order(task.subtopology_id)


def _by_name(task: TaskId) -> tuple[bytes, int]:
    return java_order(task.subtopology_id), task.partition
