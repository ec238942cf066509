"""Time, and the events in it: events in the order of their times, each a step of the simulation.

Rules. No part of the simulation reads a clock: time is the time of the next event. All randomness
comes from one seeded Random, so that a seed determines everything. After every event the watchers
check the node that it touched; the first broken promise ends the run.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random
from typing import Any

START = 1_700_000_000_000
MOST_EVENTS = 25_000
"""No play of a few nodes needs as many: nodes that exchange messages without end are a defect."""


class Broken(Exception):
    """A promise of the quorum was not kept."""


class Ended(Exception):
    """The time of a run is over, before the awaited condition held."""


class Event:
    """An event in the future, unless it is cancelled."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[], None]) -> None:
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        self.action = None


class World:
    """`now` is in ms. With `tracing` the transcript has a line for every event. More events than
    `most_events` in the run are too many; if `most_per_second` is given, it replaces that bound by
    one on every second."""

    def __init__(
        self, seed: int, *, tracing: bool = False, most_events: int = MOST_EVENTS, most_per_second: int | None = None
    ) -> None:
        self.seed, self.random, self.tracing = seed, Random(seed), tracing
        self.now = START
        self.events, self._most_events, self._most_per_second = 0, most_events, most_per_second
        self._next_second = START  # when the bound on events is raised next
        self.transcript: list[str] = []
        self._heap: list[tuple[int, int, Event]] = []
        self._number = 0

    def after(self, delay: int, action: Callable[[], None]) -> Event:
        """Schedules an event in so many ms."""
        event = Event(action)
        self._number += 1
        heapq.heappush(self._heap, (self.now + max(0, delay), self._number, event))
        return event

    def note(self, what: str, *values: Any) -> None:
        """A line of the transcript, `what` with values in the places of its `{}`."""
        if self.tracing:
            at = self.now - START
            self.transcript.append(f"{at // 1000:4d}.{at % 1000:03d}  {what.format(*values)}")

    def run_until(self, holds: Callable[[], bool], limit: int) -> None:
        """Runs events until this holds. Raises Ended when it does not within so many ms."""
        end = self.now + limit
        while not holds():
            if not self._step(end):
                raise Ended(f"nothing of the kind within {limit} ms")

    def run_for(self, duration: int) -> None:
        """Runs events for so many ms."""
        end = self.now + duration
        while self._step(end):
            pass

    def _step(self, end: int) -> bool:
        while self._heap and self._heap[0][2].action is None:
            heapq.heappop(self._heap)
        if not self._heap or self._heap[0][0] > end:
            self.now = end
            return False
        self.now, _, event = heapq.heappop(self._heap)
        if self._most_per_second is not None and self.now >= self._next_second:
            self._most_events = self.events + self._most_per_second
            self._next_second = self.now - (self.now - START) % 1000 + 1000
        self.events += 1
        if self.events > self._most_events:
            raise Broken(f"more than {self._bound()}: some node sends without end")
        if event.action is not None:
            event.action()
        return True

    def _bound(self) -> str:
        if self._most_per_second is None:
            return f"{self._most_events} events"
        return f"{self._most_per_second} events in a second"
