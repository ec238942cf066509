"""How many tasks a member should have, while tasks are being assigned.

It is the tasks divided by the members, rounded up. When a member has that many, it and its tasks no
longer count; so the remaining members may have to take fewer.
"""

from __future__ import annotations


class TaskQuota:
    """The quota of each member that has room."""

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
