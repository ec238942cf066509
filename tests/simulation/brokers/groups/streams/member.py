"""A simulated client of a streams group (KIP-1071): it runs tasks of a topology, and gives them up
in its own time.

An answer has the tasks of a member only when they change, so a client that missed an answer joins
again, without tasks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest

from ..modern_member import JOIN, NAME, REBALANCE_TIMEOUT_MS, ModernMember
from .topology import topology

if TYPE_CHECKING:
    from .cluster import StreamsGroupCluster

Task = tuple[str, int]
"""A subtopology and the index of a partition."""

ROLES = ("active", "standby", "warmup")
TaskIds = StreamsGroupHeartbeatRequest.TaskIds


class StreamsMember(ModernMember["StreamsGroupCluster"]):
    """`running` are the tasks that it has, `assigned` its target assignment, by role."""

    version = 1

    def __init__(self, cluster: StreamsGroupCluster, id: int, member_id: str, instance: str | None) -> None:
        super().__init__(cluster, id, member_id, instance)
        self.running, self.assigned = _no_tasks(), _no_tasks()
        # Several members may be threads of one process.
        self.process = f"process{self.random.randint(0, cluster.shape.streams_members)}"

    @property
    def using(self) -> set[Task]:
        """The active tasks that it runs."""
        return self.running["active"]

    def _reconcile(self) -> None:
        if self._repeats:
            self.epoch = JOIN
            self._give_up()
        if self.running != self.assigned and self.random.random() < 0.5:
            self.running = {role: set(tasks) for role, tasks in self.assigned.items()}

    def _request(self) -> StreamsGroupHeartbeatRequest:
        body = self._last_request(self.epoch)
        if self.epoch == JOIN:
            body.rebalance_timeout_ms = REBALANCE_TIMEOUT_MS
            body.process_id = self.process
            body.topology = topology(self.cluster.sources)
        # While it revokes, it does not say what it has.
        if not any(self.running[role] - self.assigned[role] for role in ROLES):
            for role, tasks in self.running.items():
                setattr(body, f"{role}_tasks", _task_ids(tasks))
        return body

    def _last_request(self, epoch: int) -> StreamsGroupHeartbeatRequest:
        return StreamsGroupHeartbeatRequest(
            group_id=NAME, member_id=self.member_id, member_epoch=epoch, instance_id=self.instance
        )

    def _follow(self, answer: Any) -> None:
        if answer.active_tasks is not None:
            self.assigned = {role: _tasks_of(getattr(answer, f"{role}_tasks")) for role in ROLES}
        # What it still runs it has, too; its assignment, it was given.
        self.cluster.given(self, self.epoch, self.using | self.assigned["active"])

    def _give_up(self) -> None:
        self.running, self.assigned = _no_tasks(), _no_tasks()

    def __repr__(self) -> str:
        return f"streams member {self.member_id} of {self.process} in epoch {self.epoch} with {self.running} of {self.assigned}"


def _no_tasks() -> dict[str, set[Task]]:
    return {role: set() for role in ROLES}


def _task_ids(tasks: Iterable[Task]) -> list[TaskIds]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for id, index in sorted(tasks):
        found[id].append(index)
    return [TaskIds(subtopology_id=id, partitions=indexes) for id, indexes in found.items()]


def _tasks_of(ids: Iterable[Any]) -> set[Task]:
    return {(each.subtopology_id, index) for each in ids for index in each.partitions}
