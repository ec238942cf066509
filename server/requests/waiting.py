"""A handler that cannot answer yet: a generator that yields what it waits for, and the driver that resumes it.

    answer = partition.read(offset)
    while not answer.ready and (yield Until(request.deadline, [partition.waiters], lacking=answer.missing_bytes)):
        answer = partition.read(offset)
    return answer

Rules. A `yield` gives True when something that was waited for happened, False when the time is up. Waiters hang on the place that can wake
them; a place is woken by an amount (bytes, or 1), and a waiter is resumed when what it lacks has come. Waking only marks: nothing is resumed
before the driver's next `run`, so that a handler never finds the world changed under its feet. What must survive lives in state, never in a
generator's locals: a closed connection closes its generators. This file knows no clock, no socket and no request.

No step may take long. A handler with much to do yields `OTHERS_FIRST` after every `SLICE` elements and is
resumed by a later tick, one handler for each. What cannot be cut into slices, and touches no state, it
yields as an `Aside`: a shell runs that on another thread, and without a shell it is run at once. Both go
by numbers of elements and not by a clock, so that the same requests give the same steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from .timers import Timer, Timers

T = TypeVar("T")
R = TypeVar("R")


class Until:
    """What a handler waits for: the places that can wake it, what it still lacks of them, and when it gives up (ms; None: never)."""

    __slots__ = ("deadline", "lacking", "places")

    def __init__(self, deadline: int | None, places: Iterable[Waiters] = (), lacking: int = 1) -> None:
        self.deadline, self.places, self.lacking = deadline, tuple(places), lacking


Wait = Generator[Until, Any, T]
"""A handler under way, whose result will be a T. It is sent True or False, as the rules above say."""

OTHERS_FIRST = Until(None)
"""What a handler yields that could go on, and lets others have their turn before."""

SLICE = 256
"""Elements (partitions, topics, ...) that a handler works on before others have their turn: 1 to 5 ms."""

MOST_AT_ONCE, FEW_AT_ONCE = 128, 16
"""Handlers that are resumed, and timers that ring, in one `run`, some 5 ms; and where a request has its turn."""


class Aside(Until):
    """Work that takes long and touches no state. When the handler goes on, `result()` gives what it gave or
    raises what it raised."""

    __slots__ = ("_failure", "_value", "_work")

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(None)
        self._work = work
        self._value: Any = None
        self._failure: Exception | None = None

    def run(self) -> None:
        """Do the work, on whatever thread."""
        try:
            self._value = self._work()
        except Exception as failure:  # its traceback would keep what the work had in its hands
            failure.__cause__ = failure.__context__ = None
            self._failure = failure.with_traceback(None)

    def result(self) -> Any:
        """What the work gave; to be called once."""
        failure, self._failure = self._failure, None
        try:
            if failure is not None:
                raise failure
            return self._value
        finally:
            del failure  # which would refer to itself by this frame


class Slices:
    """Counts the elements that a handler works on."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = SLICE

    def end(self, elements: int = 1) -> bool:
        """Whether a slice ends with these elements, so that `OTHERS_FIRST` is to be yielded."""
        self._left -= elements
        if self._left > 0:
            return False
        self._left = SLICE
        return True


def sliced(function: Callable[[T], R], elements: Iterable[T]) -> Wait[list[R]]:
    """What the function gives for each element, in slices."""
    found: list[R] = []
    slices = Slices()
    for element in elements:
        found.append(function(element))
        if slices.end():
            yield OTHERS_FIRST
    return found


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
        if until is OTHERS_FIRST:
            self._waiting.later.append(self)
            return
        if isinstance(until, Aside):
            self._waiting.aside(until, self)
            return
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
        self.later: deque[Task] = deque()  # those that let others go first
        self.aside: Callable[[Aside, Task], None] = _at_once
        """Runs an `Aside`, and wakes the task when that is done; a shell puts its own here."""
        self._running = False

    def start(self, steps: Wait[T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> Task:
        """Run a handler to its first `yield`; `done(result)` or `failed(exception)` is called once, perhaps before this returns."""
        task = Task(self, steps, done, failed)
        task.resume(None)
        return task

    @property
    def is_busy(self) -> bool:
        """Whether handlers can go on that the last `run` left."""
        return bool(self.later or self.ready)

    def take_turn(self) -> None:
        """Have the next `run` resume one that let others go first, the one that did so longest ago."""
        while self.later:
            task = self.later.popleft()
            if task.alive:
                self.ready.append((task, True))
                return

    def run(self, now: int, most: int | None = None) -> None:
        """Resume what can go on at `now`, and what that wakes, until nothing more moves or `most` have been resumed.

        Called from within itself (an answer that lets the next request of a connection begin) it leaves the work to the outer call: the
        depth of the stack does not grow with the number of those who wait.
        """
        if self._running:
            return
        self._running, left = True, most or MOST_AT_ONCE
        try:
            self.timers.run(now, left)
            while self.ready and left:
                task, moved = self.ready.popleft()
                task.resume(moved)
                left -= 1
        finally:
            self._running = False


def _at_once(aside: Aside, task: Task) -> None:
    aside.run()
    task.woken()
