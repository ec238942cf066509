"""Moves a member of a streams group towards its target assignment (KIP-1071).

A heartbeat calls this unless the member is reconciled. The state of a member decides:

    STABLE              in another epoch than the target: the next assignment is computed
    UNREVOKED_TASKS     once the member no longer owns what it must revoke: computed
    UNRELEASED_TASKS    computed, since other members may have released tasks meanwhile
    UNKNOWN             computed once the member owns nothing; FENCED_MEMBER_EPOCH before

The next assignment. Tasks that the target does not have are revoked first, in the member's epoch.
Then the member advances to the target's epoch and has what is free: an active task that no process
runs, a copy whose process has no other copy. While some are not, it is UNRELEASED_TASKS. A task
that changes its role in the member needs no revocation: an active task becomes a standby copy at
once, standby and warm-up copies replace each other, and a copy stays until it can become active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kafkadouble.messages import error_codes

from ...requests.request import Refusal
from .members.streams_group_member import StreamsGroupMember
from .members.streams_member_state import StreamsMemberState
from .members.task_process_ids import Task, TaskProcessIds
from .members.tasks_tuple import NO_TASKS_WITH_EPOCHS, Tasks, TasksTuple, TasksTupleWithEpochs

TaskSet = frozenset[Task]


class Reconciliation(NamedTuple):
    """What the next assignment of a member depends on; `owned` is None if it did not say."""

    member: StreamsGroupMember
    target_epoch: int
    target: TasksTuple
    owned: TasksTuple | None
    processes: TaskProcessIds

    def has_not_released(self, tasks: TasksTupleWithEpochs) -> bool:
        """Returns whether the member may still have one of the tasks."""
        return self.owned is None or self.owned.contains_any(tasks)


def reconcile(reconciliation: Reconciliation) -> StreamsGroupMember:
    """Returns the member with its next assignment. Raises Refusal(FENCED_MEMBER_EPOCH)."""
    member_epoch = EPOCH_OF_NEXT_ASSIGNMENT[reconciliation.member.state](reconciliation)
    return reconciliation.member if member_epoch is None else _NextAssignment(reconciliation).member(member_epoch)


def _if_stable(of: Reconciliation) -> int | None:
    return None if of.member.member_epoch == of.target_epoch else of.member.member_epoch


def _if_unrevoked(of: Reconciliation) -> int | None:
    if of.has_not_released(of.member.tasks_pending_revocation):
        return None
    return of.member.member_epoch + 1


def _if_unreleased(of: Reconciliation) -> int | None:
    return of.member.member_epoch


def _if_unknown(of: Reconciliation) -> int | None:
    if of.owned is not None and of.owned.is_empty:
        return of.target_epoch
    raise Refusal(
        error_codes.FENCED_MEMBER_EPOCH,
        "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.",
    )


EPOCH_OF_NEXT_ASSIGNMENT: Mapping[StreamsMemberState, Callable[[Reconciliation], int | None]] = {
    StreamsMemberState.STABLE: _if_stable,
    StreamsMemberState.UNREVOKED_TASKS: _if_unrevoked,
    StreamsMemberState.UNRELEASED_TASKS: _if_unreleased,
    StreamsMemberState.UNKNOWN: _if_unknown,
}
"""State -> the member epoch while tasks must be revoked; None if nothing changes."""


class _Roles(NamedTuple):
    """Tasks by the role that they have in a member."""

    active: TaskSet
    standby: TaskSet
    warmup: TaskSet

    def minus(self, other: _Roles) -> _Roles:
        return _Roles(self.active - other.active, self.standby - other.standby, self.warmup - other.warmup)

    def common(self, other: _Roles) -> _Roles:
        return _Roles(self.active & other.active, self.standby & other.standby, self.warmup & other.warmup)

    @property
    def is_empty(self) -> bool:
        return not (self.active or self.standby or self.warmup)


def _roles(tasks: TasksTuple | TasksTupleWithEpochs) -> _Roles:
    return _Roles(_task_set(tasks.active), _task_set(tasks.standby), _task_set(tasks.warmup))


class _Obstacles:
    """The tasks that other members must revoke before a member can get them. "Elsewhere" is in
    another member of its process."""

    def __init__(self, of: Reconciliation, current: _Roles) -> None:
        self._processes, self._process_id, self._current = of.processes, of.member.process_id, current

    def _is_active_here(self, task: Task) -> bool:
        return self._processes.active(task) == self._process_id

    def _is_standby_here(self, task: Task) -> bool:
        return self._process_id in self._processes.standby(task)

    def _is_warmup_here(self, task: Task) -> bool:
        return self._process_id in self._processes.warmup(task)

    def _is_standby_elsewhere(self, task: Task) -> bool:
        return self._is_standby_here(task) and task not in self._current.standby

    def _is_warmup_elsewhere(self, task: Task) -> bool:
        return self._is_warmup_here(task) and task not in self._current.warmup

    def active(self, task: Task) -> bool:
        """Returns whether the member cannot become active for the task."""
        runs = self._processes.active(task) is not None
        return runs or self._is_standby_elsewhere(task) or self._is_warmup_elsewhere(task)

    def standby(self, task: Task) -> bool:
        """Returns whether the member cannot have a standby copy of the task."""
        is_active_elsewhere = self._is_active_here(task) and task not in self._current.active
        return is_active_elsewhere or self._is_standby_here(task) or self._is_warmup_elsewhere(task)

    def warmup(self, task: Task) -> bool:
        """Returns whether the member cannot warm the task up."""
        return self._is_active_here(task) or self._is_standby_elsewhere(task) or self._is_warmup_here(task)


def _free(tasks: _Roles, obstacles: _Obstacles) -> _Roles:
    """Returns those of the tasks that the member can have now."""
    return _Roles(
        TaskSet(task for task in tasks.active if not obstacles.active(task)),
        TaskSet(task for task in tasks.standby if not obstacles.standby(task)),
        TaskSet(task for task in tasks.warmup if not obstacles.warmup(task)),
    )


class _NextAssignment:
    """The tasks of a member: `assigned` stay, `revoked` are not in the target, `granted` are new;
    `is_waiting` is whether others still have tasks of the target."""

    def __init__(self, of: Reconciliation) -> None:
        self._of = of
        current, target = _roles(of.member.assigned_tasks), _roles(of.target)
        new = target.minus(current)
        self._granted = granted = _free(new, _Obstacles(of, current))
        self._is_waiting = granted != new
        to_warmup, to_standby = current.standby & granted.warmup, current.warmup & granted.standby
        self._revoked = self._with_epochs(
            _Roles(
                current.active - target.active,
                current.standby - target.standby - target.active - to_warmup,
                current.warmup - target.warmup - target.active - to_standby,
            )
        )
        self._must_revoke = not self._revoked.is_empty and of.has_not_released(self._revoked)
        waiting_copies = target.active - (TaskSet() if self._must_revoke else granted.active)
        kept = current.common(target)
        self._assigned = _Roles(
            kept.active,
            kept.standby | to_standby | current.active & granted.standby | current.standby & waiting_copies,
            kept.warmup | to_warmup | current.warmup & waiting_copies,
        )

    def member(self, epoch_while_revoking: int) -> StreamsGroupMember:
        """Returns the member with this assignment."""
        old, assigned = self._of.member, self._with_epochs(self._assigned)
        if self._must_revoke:
            return replace(
                old,
                state=StreamsMemberState.UNREVOKED_TASKS,
                member_epoch=epoch_while_revoking,
                previous_member_epoch=old.member_epoch,
                assigned_tasks=assigned,
                tasks_pending_revocation=self._revoked,
            )
        return replace(
            old,
            state=StreamsMemberState.UNRELEASED_TASKS if self._is_waiting else StreamsMemberState.STABLE,
            member_epoch=self._of.target_epoch,
            previous_member_epoch=old.member_epoch,
            assigned_tasks=assigned.merged(self._with_epochs(self._granted)),
            tasks_pending_revocation=NO_TASKS_WITH_EPOCHS,
        )

    def _with_epochs(self, tasks: _Roles) -> TasksTupleWithEpochs:
        """Returns tasks with epochs; an active task keeps its epoch, or has the target's."""
        epochs = self._of.member.assigned_tasks.active
        active: dict[str, dict[int, int]] = {}
        for id, index in sorted(tasks.active):
            active.setdefault(id, {})[index] = epochs.get(id, {}).get(index, self._of.target_epoch)
        return TasksTupleWithEpochs(active, _by_subtopology(tasks.standby), _by_subtopology(tasks.warmup))


def _task_set(tasks: Mapping[str, Iterable[int]]) -> TaskSet:
    return TaskSet((id, index) for id, partitions in tasks.items() for index in partitions)


def _by_subtopology(tasks: TaskSet) -> Tasks:
    found: dict[str, set[int]] = {}
    for id, index in sorted(tasks):
        found.setdefault(id, set()).add(index)
    return {id: frozenset(partitions) for id, partitions in found.items()}
