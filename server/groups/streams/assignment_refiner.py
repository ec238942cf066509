"""Refines a target assignment with warm-up tasks (Kafka: `AssignmentRefiner`).

Apache Kafka 4.4.0 has this step, but it changes nothing yet: the refined assignment is the target
assignment, and no member has a warm-up task. The result is kept for the assignment epoch, as in
Kafka, because a member may be reconciled to it after its target assignment was removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .members.tasks_tuple import TasksTuple

NO_EPOCH = -1

NO_ASSIGNMENT: Mapping[str, TasksTuple] = {}


class RefinedAssignment(NamedTuple):
    """`assignment` maps member id -> tasks, for one assignment epoch."""

    epoch: int = NO_EPOCH
    assignment: Mapping[str, TasksTuple] = NO_ASSIGNMENT

    def renamed(self, old_id: str, new_id: str) -> RefinedAssignment:
        """Returns this assignment with the tasks of a static member under the id of its
        replacement."""
        if old_id not in self.assignment:
            return self
        left = {id: tasks for id, tasks in self.assignment.items() if id != old_id}
        return RefinedAssignment(self.epoch, {**left, new_id: self.assignment[old_id]})


def refine(target_assignment: Mapping[str, TasksTuple]) -> Mapping[str, TasksTuple]:
    """Returns the refined assignment of a target assignment."""
    return target_assignment
