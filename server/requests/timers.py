"""Timers: `run(now)` calls every action that is due, earliest first.

Rules. Actions with the same deadline run in the order in which they were scheduled, so that a run
can be repeated. A cancelled timer takes only an entry of the heap, and at most half of a large heap
are cancelled entries: a million heartbeats that move a deadline do not fill it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

Action = Callable[[int], None]
"""The action of a timer; its argument is `now` in ms."""

NEVER = 2**63
"""No deadline: later than every deadline (ms)."""


class Timer:
    """An action that runs at `deadline` (ms), unless `cancel` is called before."""

    __slots__ = ("_timers", "action", "deadline")

    def __init__(self, timers: Timers, deadline: int, action: Action) -> None:
        self._timers, self.deadline = timers, deadline
        self.action: Action | None = action

    def cancel(self) -> None:
        if self.action is not None:
            self.action = None
            self._timers._cancelled()


class Timers:
    """Timers in the order of their deadlines."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Timer]] = []
        self._order = count()
        self._dead = 0

    def at(self, deadline: int, action: Action) -> Timer:
        """Schedules `action(now)` for the first `run` at or after `deadline` (ms)."""
        timer = Timer(self, deadline, action)
        heapq.heappush(self._heap, (deadline, next(self._order), timer))
        return timer

    def next_deadline(self) -> int | None:
        """The deadline of the next action (ms), or None."""
        while self._heap and self._heap[0][2].action is None:
            heapq.heappop(self._heap)
            self._dead -= 1
        return self._heap[0][0] if self._heap else None

    def due(self, now: int) -> bool:
        """Whether `run` may have something to do; it can be True for a cancelled timer alone."""
        return bool(self._heap) and self._heap[0][0] <= now

    def run(self, now: int, most: int | None = None) -> None:
        """Runs every action that is due, including those scheduled meanwhile, at most `most`."""
        left = -1 if most is None else most
        while left and (deadline := self.next_deadline()) is not None and deadline <= now:
            left -= 1
            timer = heapq.heappop(self._heap)[2]
            action, timer.action = timer.action, None
            if action is not None:
                action(now)

    def _cancelled(self) -> None:
        self._dead += 1
        if self._dead > 64 and self._dead > len(self._heap) // 2:
            self._heap = [entry for entry in self._heap if entry[2].action is not None]
            heapq.heapify(self._heap)
            self._dead = 0
