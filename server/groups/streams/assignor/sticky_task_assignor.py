"""STUB until the real one is merged."""

from __future__ import annotations

from collections.abc import Mapping

from ..task_assignor import MemberTasks, TaskGroupSpec, TopologyDescriber


class StickyTaskAssignor:
    name = "sticky"

    def assign(self, spec: TaskGroupSpec, topology: TopologyDescriber) -> Mapping[str, MemberTasks]:
        ids = [*spec.members]
        tasks = [(s, i) for s in topology.subtopologies() for i in range(topology.max_num_input_partitions(s))]
        active: dict[str, dict[str, set[int]]] = {id: {} for id in ids}
        for n, (s, i) in enumerate(tasks):
            active[ids[n % len(ids)]].setdefault(s, set()).add(i)
        return {id: MemberTasks(active[id], {}) for id in ids}
