"""Calls the steps of a scenario at their times.

Rules. The times are those of the double's clock. With a clock that runs, a thread waits for the
next step; it ends after the last one. With a clock that stands still, steps happen in `advance`,
which stops at the time of each. No step is called on the broker's own thread: many verbs wait for
the broker. A step that fails is logged and noted, and the next ones happen nevertheless. After
`end` no step is called, and the thread ends. Nothing here keeps the double alive.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.server.network.clock import Clock, SteppedClock, seconds_of, stands_still
from kafkadouble.wire.client_log import ClientLog

from .step import ScenarioStep

if TYPE_CHECKING:
    from kafkadouble.double import KafkaDouble
    from kafkadouble.running import Running

PENDING, DONE, FAILED = "pending", "done", "failed"
LONGEST_WAIT_S = 3600.0
GRACE_S = 2.0
"""How long an end waits for the step that is being called. A step may wait for the brokers, so that
only their stop ends it."""
ENDS_WITHIN_S = 10.0
"""How long a thread is waited for that has nothing left to do."""
log = ClientLog("kafkadouble")


class StepOutcome(NamedTuple):
    """A step of a scenario: when it is called, in seconds since the scenario was applied, which
    verb, and whether it is `pending`, `done` or `failed`, with its error."""

    at: float
    verb: str
    state: str
    problem: str | None = None


class ScenarioSteps:
    """The steps of one application of a scenario."""

    def __init__(self, kafka: KafkaDouble, running: Running, clock: Clock, steps: Sequence[ScenarioStep]) -> None:
        self._kafka, self._running, self._clock = weakref.ref(kafka), running, clock
        self._steps, self._next, self._ended = steps, 0, False
        self._outcomes = [StepOutcome(each.at, each.call.verb.name, PENDING) for each in steps]
        self._begun_ms = clock.now()
        self._changed = threading.Condition()
        # One step at a time. A step may collect the double, which ends this on the same thread.
        self._turn = threading.RLock()
        self._worker: threading.Thread | None = None

    def begin(self) -> None:
        """Call the steps of the time 0, and see to it that the others are called."""
        self._call_due()
        if self._next < len(self._steps) and not isinstance(self._clock, SteppedClock):
            self._worker = threading.Thread(target=self._work, name="kafkadouble-scenario", daemon=True)
            self._worker.start()

    @property
    def outcomes(self) -> list[StepOutcome]:
        """Every step, in the order of the times."""
        return list(self._outcomes)

    def advance(self, move: Callable[[int], None], milliseconds: int) -> None:
        """Let time pass, and call what is due at its time. On the broker's own thread time passes
        only, and the steps are called with the next advance."""
        target = self._clock.now() + milliseconds
        while not self._running.thread.here and (due := self._due_ms()) is not None and due <= target:
            move(max(0, due - self._clock.now()))
            self._call_due()
            if not stands_still(self._clock):  # a step let it go on
                return
        move(max(0, target - self._clock.now()))

    def clock_changed(self) -> None:
        """The clock was frozen, scaled or let go on."""
        with self._changed:
            self._changed.notify_all()

    def end(self) -> None:
        """Call no further step, and wait for the one that is being called, but not for long. It may
        be called again."""
        if self._running.thread.elsewhere or self._ended:
            return
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        # On the broker's own thread there is no wait: the step may wait for that thread.
        if not self._running.thread.here and self._turn.acquire(timeout=GRACE_S):
            self._turn.release()
            self.join()

    def join(self) -> None:
        """Wait until the thread has ended, after the end, or the stop of the brokers."""
        if self._worker is not None and self._worker is not threading.current_thread():
            self._worker.join(ENDS_WITHIN_S)

    def _due_ms(self) -> int | None:
        """When the next step is due; None if there is none."""
        if self._ended or self._next >= len(self._steps):
            return None
        return self._begun_ms + round(self._steps[self._next].at * 1000)

    def _work(self) -> None:
        while self._is_awaited():
            self._call_due()

    def _is_awaited(self) -> bool:
        """Wait until a step is due; False if there is none."""
        with self._changed:
            while (due := self._due_ms()) is not None:
                left = due - self._clock.now()
                if left <= 0:
                    return True
                self._changed.wait(self._seconds(left))
            return False

    def _seconds(self, milliseconds: int) -> float | None:
        """How long to wait for so many milliseconds of the clock; None until the clock changes."""
        try:
            return None if stands_still(self._clock) else min(seconds_of(self._clock, milliseconds), LONGEST_WAIT_S)
        except ZeroDivisionError:  # it was frozen meanwhile
            return None

    def _call_due(self) -> None:
        with self._turn:
            while (index := self._take()) is not None:
                self._call(index)
        self.clock_changed()

    def _take(self) -> int | None:
        """The index of the next step if it is due."""
        with self._changed:
            due = self._due_ms()
            if due is None or due > self._clock.now():
                return None
            self._next += 1
            return self._next - 1

    def _call(self, index: int) -> None:
        kafka, step = self._kafka(), self._steps[index]
        if kafka is None:
            return
        outcome = self._outcomes[index]
        try:
            step.call.verb.call(kafka, **step.call.given)
        except Exception as problem:
            said = f"{type(problem).__name__}: {problem}"
            self._outcomes[index] = outcome._replace(state=FAILED, problem=said)
            if not self._ended:
                log.warning("%s: the step %s at %g s failed: %s", step.call.where, outcome.verb, step.at, said)
        else:
            self._outcomes[index] = outcome._replace(state=DONE)
