"""The id of a task: one partition of one subtopology."""

from __future__ import annotations

from typing import NamedTuple

from .task_assignor import TopologyDescriber


class TaskId(NamedTuple):
    """One task, in messages `subtopology_partition`."""

    subtopology_id: str
    partition: int

    def __str__(self) -> str:
        return f"{self.subtopology_id}_{self.partition}"


def task_ids(topology: TopologyDescriber, *, only_stateful: bool) -> list[TaskId]:
    """Returns every task of a topology, or only those with state."""
    return [
        TaskId(subtopology_id, partition)
        for subtopology_id in topology.subtopologies()
        if not only_stateful or topology.is_stateful(subtopology_id)
        for partition in range(topology.max_num_input_partitions(subtopology_id))
    ]
