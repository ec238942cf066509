"""Wakes the waits for a state of the server when something may have changed.

Rules. A check runs on the loop's thread, never inside a call into a node, once after each round of
calls. A change that a check itself makes does not start another check.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

Check = Callable[[], bool]
"""Looks at the state; whether the wait is over."""


class Watches:
    """The checks that are waiting. Without one, `due` is not called."""

    __slots__ = ("_is_due", "_is_looking", "checks")

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self._is_due = self._is_looking = False

    def add(self, check: Check) -> None:
        """Looks now, and after each call into a node, until the wait is over."""
        self.checks.append(check)
        self.due()

    def drop(self, check: Check) -> None:
        """Looks no more. It is no error if the wait is over."""
        if check in self.checks:
            self.checks.remove(check)

    def due(self) -> None:
        """A node was called."""
        if not (self._is_due or self._is_looking):
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        self._is_due, self._is_looking = False, True
        try:
            for check in list(self.checks):
                if check():
                    self.drop(check)
        finally:
            self._is_looking = False

    def __repr__(self) -> str:
        return f"{len(self.checks)} waits"
