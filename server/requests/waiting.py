"""Handlers that wait: a handler that cannot answer yet is a generator that yields what it waits
for, and `Waiting` resumes it (Kafka's DelayedOperationPurgatory).

    answer = partition.read(offset)
    missing = answer.missing_bytes
    while missing and (yield Until(request.deadline, [partition.waiters], lacking=missing)):
        answer = partition.read(offset)
        missing = answer.missing_bytes
    return answer

Rules.

- A `yield` returns True when something that the handler waited for happened, False when its
  deadline has passed.
- A task is registered in the `Waiters` of each place that can wake it: a partition, a group, a
  flush. A place is woken by an amount (bytes, or 1). A task is resumed when the sum reaches what it
  lacks.
- Waking only marks a task. It is resumed by the next `run`, so that state never changes while
  another handler is in the middle of a step.
- State that must survive never lives in the local variables of a generator: a closed connection
  closes its generators.

This module has no clock and no socket, and does not depend on the request.

No step may take long. A handler with much to do yields `OTHERS_FIRST` after every `SLICE` elements,
and a later tick resumes it, one handler per tick. Work that cannot be divided into slices and does
not touch state is yielded as an `Aside`: the shell runs it on another thread; without a shell it
runs at once. Both depend on numbers of elements and not on a clock, so that the same requests give
the same steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .timers import Timer, Timers

T = TypeVar("T")
R = TypeVar("R")


class Until:
    """The event that a handler waits for: the places that can wake it, the amount that it lacks,
    and the deadline (ms; None: no deadline).
    """

    __slots__ = ("deadline", "lacking", "places")

    def __init__(self, deadline: int | None, places: Iterable[Waiters] = (), lacking: int = 1) -> None:
        self.deadline, self.places, self.lacking = deadline, tuple(places), lacking


Wait = Generator[Until, Any, T]
"""A running handler whose result is a T. It is sent True or False, see the rules above."""

OTHERS_FIRST = Until(None)
"""A handler yields this when it could continue, but lets other handlers run first."""

SLICE = 256
"""The number of elements (partitions, topics, ...) that a handler processes before other handlers
run: 1 to 5 ms.
"""

MOST_AT_ONCE, FEW_AT_ONCE = 128, 16
"""The number of handlers that one `run` resumes, and of timers that it fires, about 5 ms; and the
smaller number for a `run` before which a request had its turn.
"""


class Aside(Until):
    """Work that takes long and does not touch state. When the handler is resumed, `result()`
    returns the result of the work or raises its exception.
    """

    __slots__ = ("_failure", "_value", "_work")

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(None)
        self._work = work
        self._value: Any = None
        self._failure: Exception | None = None

    def run(self) -> None:
        """Does the work, on any thread."""
        try:
            self._value = self._work()
        except Exception as failure:  # without its traceback, which would keep the data of the work
            failure.__cause__ = failure.__context__ = None
            self._failure = failure.with_traceback(None)

    def result(self) -> Any:
        """The result of the work. It can be called once."""
        failure, self._failure = self._failure, None
        try:
            if failure is not None:
                raise failure
            return self._value
        finally:
            del failure  # it would refer to itself through this frame


class Slices:
    """Counts the elements that a handler processes."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = SLICE

    def end(self, elements: int = 1) -> bool:
        """Counts these elements. True when the slice ends and the handler must yield
        `OTHERS_FIRST`."""
        self._left -= elements
        if self._left > 0:
            return False
        self._left = SLICE
        return True


def sliced(function: Callable[[T], R], elements: Iterable[T], slices: Slices | None = None) -> Wait[list[R]]:
    """Applies a function to each element, in slices; in the given ones where each of many parts has
    few elements."""
    found: list[R] = []
    slices = slices or Slices()
    for element in elements:
        found.append(function(element))
        if slices.end():
            yield OTHERS_FIRST
    return found


class Waiters:
    """The tasks that wait for one place: a partition, a group, a flush."""

    __slots__ = ("tasks",)

    def __init__(self) -> None:
        # In order of arrival. A dict, so that any task is removed in constant time.
        self.tasks: dict[HandlerTask, None] = {}

    def wake(self, amount: int = 1) -> None:
        """Adds `amount` to what every waiting task has; wakes the tasks that lack nothing more."""
        for task in list(self.tasks):
            task.lacking -= amount
            if task.lacking <= 0:
                task.woken()

    def wake_all(self) -> None:
        """Wakes every waiting task, whatever it lacks."""
        for task in list(self.tasks):
            task.woken()

    def __len__(self) -> int:
        return len(self.tasks)

    def __repr__(self) -> str:
        return f"{len(self.tasks)} waiting"


class HandlerTask:
    """One running handler. `lacking` is the amount that must still come from its places; `slices`
    is how often it let others run first."""

    __slots__ = ("_done", "_failed", "_places", "_steps", "_timer", "_waiting", "alive", "lacking", "slices")

    def __init__(
        self, waiting: Waiting, steps: Wait[Any], done: Callable[[Any], None], failed: Callable[[Exception], None]
    ) -> None:
        self._waiting, self._steps, self._done, self._failed = waiting, steps, done, failed
        self._places: tuple[Waiters, ...] = ()
        self._timer: Timer | None = None
        self.lacking, self.slices, self.alive = 0, 0, True

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
        """Runs the handler to its next `yield` or to its end. `moved` is None for the start."""
        if not self.alive:
            return
        try:
            until = self._steps.send(moved)
        except StopIteration as end:
            self.alive = False
            self._done(end.value)
        except Exception as failure:  # passed on to the owner of the task
            self.alive = False
            self._failed(failure)
        else:
            self._hang(until)

    def _hang(self, until: Until) -> None:
        if until is OTHERS_FIRST:
            self.slices += 1
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
        """Ends the handler: its answer is not needed any more."""
        if self.alive:
            self.alive = False
            self._leave()
            self._steps.close()


class Waiting:
    """Starts handlers, and resumes those that were woken or whose deadline has passed."""

    def __init__(self) -> None:
        self.timers = Timers()
        # Tasks that can continue, and whether they were woken (else their deadline has passed).
        # None is for tasks that have not begun.
        self.ready: deque[tuple[HandlerTask, bool | None]] = deque()
        self.later: deque[HandlerTask] = deque()  # tasks that let others run first
        self.aside: Callable[[Aside, HandlerTask], None] = _at_once
        """Runs an `Aside`, and wakes the task when it is done. A shell puts its own here."""
        self._running = False

    def start(self, steps: Wait[T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> HandlerTask:
        """Runs a handler to its first `yield`. `done(result)` or `failed(exception)` is called
        once, possibly before this returns.
        """
        task = HandlerTask(self, steps, done, failed)
        task.resume(None)
        return task

    def start_soon(self, action: Callable[[], None]) -> None:
        """Calls `action` in the next `run`, when the running step is over."""
        task = HandlerTask(self, _steps_of(action), _ignore, _raise)
        self.ready.append((task, None))

    def start_after_others(self, action: Callable[[], None]) -> None:
        """Calls `action` in a later tick, when others had their turn."""
        self.start(_steps_after_others(action), _ignore, _raise)

    @contextmanager
    def asides_at_once(self) -> Iterator[None]:
        """In the `with` block asides run at once, for a caller on this thread that goes on only
        with the answer."""
        before, self.aside = self.aside, _at_once
        try:
            yield
        finally:
            self.aside = before

    @property
    def is_busy(self) -> bool:
        """Whether the last `run` left handlers that can continue."""
        return bool(self.later or self.ready)

    def take_turn(self) -> None:
        """Lets the next `run` resume one task that let others run first: the one that has waited
        longest."""
        while self.later:
            task = self.later.popleft()
            if task.alive:
                self.ready.append((task, True))
                return

    def run(self, now: int, most: int | None = None) -> None:
        """Resumes the tasks that can continue at `now`, and those that they wake, at most `most`
        tasks.

        A call from inside `run` (an answer starts the next request of a connection) leaves the work
        to the outer call, so that the stack does not grow with the number of waiting tasks.
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


def _steps_of(action: Callable[[], None]) -> Wait[None]:
    action()
    yield from ()


def _steps_after_others(action: Callable[[], None]) -> Wait[None]:
    yield OTHERS_FIRST
    action()


def _ignore(result: None) -> None:
    """An action has no result."""


def _raise(failure: Exception) -> None:
    raise failure


def _at_once(aside: Aside, task: HandlerTask) -> None:
    aside.run()
    task.woken()
