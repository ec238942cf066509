"""A handler that cannot answer yet: a generator that yields what it waits for, and the driver that resumes it.

    answer = partition.read(offset)
    while not answer.ready and (yield Until(request.deadline, [partition.waiters], lacking=answer.missing_bytes)):
        answer = partition.read(offset)
    return answer

Rules. A `yield` gives True when something that was waited for happened, False when the time is up. Waiters hang on the place that can wake
them; a place is woken by an amount (bytes, or 1), and a waiter is resumed when what it lacks has come. Waking only marks: nothing is resumed
before the driver's next `run`, so that a handler never finds the world changed under its feet. What must survive lives in state, never in a
generator's locals: a closed connection closes its generators. This file knows no clock, no socket and no request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from .timers import Timer, Timers

T = TypeVar("T")


class Until:
    """What a handler waits for: the places that can wake it, what it still lacks of them, and when it gives up (ms; None: never)."""

    __slots__ = ("deadline", "lacking", "places")

    def __init__(self, deadline: int | None, places: Iterable[Waiters] = (), lacking: int = 1) -> None:
        self.deadline, self.places, self.lacking = deadline, tuple(places), lacking


Wait = Generator[Until, Any, T]
"""A handler under way, whose result will be a T. It is sent True or False, as the rules above say."""


class Waiters:
    """A place where handlers hang until it moves: a partition, a group, a flush."""

    __slots__ = ("tasks",)

    def __init__(self) -> None:
        self.tasks: dict[
            Task, None
        ] = {}  # in order of arrival; a dict, so that leaving costs the same for the first and the last

    def wake(self, amount: int = 1) -> None:
        """Something moved here, by `amount` of what these waiters count."""
        for task in list(self.tasks):
            task.lacking -= amount
            if task.lacking <= 0:
                task.woken()

    def wake_all(self) -> None:
        """Something happened that every waiter must look at, however much it still lacks."""
        for task in list(self.tasks):
            task.woken()

    def __len__(self) -> int:
        return len(self.tasks)

    def __repr__(self) -> str:
        return f"{len(self.tasks)} waiting"


class Task:
    """One handler under way. `lacking` is what is still to come at the places where it hangs."""

    __slots__ = ("_done", "_failed", "_places", "_steps", "_timer", "_waiting", "alive", "lacking")

    def __init__(
        self, waiting: Waiting, steps: Wait[Any], done: Callable[[Any], None], failed: Callable[[Exception], None]
    ) -> None:
        self._waiting, self._steps, self._done, self._failed = waiting, steps, done, failed
        self._places: tuple[Waiters, ...] = ()
        self._timer: Timer | None = None
        self.lacking, self.alive = 0, True

    def woken(self) -> None:
        self._leave()
        self._waiting.ready.append((self, True))

    def _expired(self, now: int) -> None:
        self._leave()
        self._waiting.ready.append((self, False))

    def _leave(self) -> None:
        for place in self._places:
            place.tasks.pop(self, None)
        self._places = ()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def resume(self, moved: bool | None) -> None:
        """Run the handler to its next `yield`, or to its end; `moved` is None to start it."""
        if not self.alive:
            return
        try:
            until = self._steps.send(moved)
        except StopIteration as end:
            self.alive = False
            self._done(end.value)
        except Exception as failure:
            self.alive = False
            self._failed(failure)
        else:
            self._hang(until)

    def _hang(self, until: Until) -> None:
        self.lacking, self._places = until.lacking, until.places
        for place in until.places:
            place.tasks[self] = None
        if until.deadline is not None:
            self._timer = self._waiting.timers.at(until.deadline, self._expired)

    def close(self) -> None:
        """Nobody waits for the answer any more."""
        if self.alive:
            self.alive = False
            self._leave()
            self._steps.close()


class Waiting:
    """The driver: starts handlers, and resumes those that were woken or whose time is up."""

    def __init__(self) -> None:
        self.timers = Timers()
        self.ready: deque[tuple[Task, bool]] = deque()  # who can go on, and whether he was woken
        self._running = False

    def start(self, steps: Wait[T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> Task:
        """Run a handler to its first `yield`; `done(result)` or `failed(exception)` is called once, perhaps before this returns."""
        task = Task(self, steps, done, failed)
        task.resume(None)
        return task

    def run(self, now: int) -> None:
        """Resume whatever can go on at `now`, and what that wakes, until nothing more moves.

        Called from within itself (an answer that lets the next request of a connection begin) it leaves the work to the outer call: the
        depth of the stack does not grow with the number of those who wait.
        """
        if self._running:
            return
        self._running = True
        try:
            self.timers.run(now)
            while self.ready:
                task, moved = self.ready.popleft()
                task.resume(moved)
        finally:
            self._running = False
