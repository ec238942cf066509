"""Calls the steps of a scenario at their times.

Rules. The times are those of the double's clock. With a clock that runs, a thread waits for the
next step; it ends after the last one. With a clock that stands still, steps happen in `advance`,
which stops at the time of each. No step is called on the broker's own thread: many verbs wait for
the broker; only steps with `on_record` are (see `record_steps`). A step that fails is logged and
noted, and the next ones happen nevertheless. Of the calls of a step with `every`, those that are
late by an interval or more are left out. After `end` no step is called, and the thread ends.
Nothing here keeps the double alive.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from kafkadouble.common.errors import UsageError
from kafkadouble.common.step_outcome import StepOutcome
from kafkadouble.server.network.clock import Clock, SteppedClock, seconds_of, stands_still
from kafkadouble.wire.client_log import ClientLog

from .record_steps import RecordSteps
from .step import ScenarioStep

if TYPE_CHECKING:
    from kafkadouble.engine.running import Running
    from kafkadouble.verbs.double_api import DoubleApi

PENDING, DONE, FAILED = "pending", "done", "failed"
LONGEST_WAIT_S = 3600.0
MOST_CALLS = 100_000
"""How many times one `advance` calls the steps with `every`."""
GRACE_S = 2.0
"""How long an end waits for the step that is being called. A step may wait for the brokers, so that
only their stop ends it."""
ENDS_WITHIN_S = 10.0
"""How long a thread is waited for that has nothing left to do."""
log = ClientLog("kafkadouble")


class ScenarioSteps:
    """The steps of one application of a scenario."""

    def __init__(self, kafka: DoubleApi, running: Running, clock: Clock, steps: Sequence[ScenarioStep]) -> None:
        self._kafka, self._running, self._clock = weakref.ref(kafka), running, clock
        self._steps, self._ended = steps, False
        self._outcomes = [StepOutcome(step.at, step.call.verb.name, PENDING) for step in steps]
        self._begun_ms = clock.now()
        # When a step is due, its index, and the number of the call.
        self._due = [(self._due_of(index, 0), index, 0) for index, step in enumerate(steps) if not step.on_record]
        heapify(self._due)
        self._of_records = RecordSteps(running.broker, steps, self._note)
        self._changed = threading.Condition()
        # One step at a time. A step may collect the double, which ends this on the same thread.
        self._turn = threading.RLock()
        self._worker: threading.Thread | None = None

    def begin(self) -> None:
        """Calls the steps of the time 0, and sees to it that the others are called."""
        self._running.thread.call(self._of_records.begin)
        self._call_due()
        if self._due and not isinstance(self._clock, SteppedClock):
            self._worker = threading.Thread(target=self._work, name="kafkadouble-scenario", daemon=True)
            self._worker.start()

    @property
    def outcomes(self) -> list[StepOutcome]:
        """Every step, in the order of the times."""
        return self._running.on_thread(lambda: list(self._outcomes))

    def advance(self, move: Callable[[int], None], milliseconds: int) -> None:
        """Advances the clock, and calls each step at its time. On the broker's own thread time
        passes only, and the steps are called with the next advance."""
        target = self._clock.now() + milliseconds
        self._check_calls(target)
        while not self._running.thread.here and (due := self._due_ms()) is not None and due <= target:
            move(max(0, due - self._clock.now()))
            self._call_due()
            if not stands_still(self._clock):  # a step let it go on
                return
        move(max(0, target - self._clock.now()))

    def _check_calls(self, target: int) -> None:
        """Refuses to let so much time pass that it would take hours."""
        calls = {index: self._calls_until(target, due, index) for due, index, _ in self._due}
        if sum(calls.values()) > MOST_CALLS:
            call = self._steps[most := max(calls, key=lambda call: calls[call])].call
            raise UsageError(
                f"{call.where}: the step {call.verb.name} would be called {calls[most]} times in this advance, of "
                f"{MOST_CALLS} for all steps: advance by less time at once, or give the step until"
            )

    def _calls_until(self, target: int, due: int, index: int) -> int:
        step = self._steps[index]
        last = target if step.until is None else min(target, self._begun_ms + round(step.until * 1000))
        return 0 if step.every is None or due > last else int((last - due) // (step.every * 1000)) + 1

    def clock_changed(self) -> None:
        """The clock was frozen, scaled or let go on."""
        with self._changed:
            self._changed.notify_all()

    def end(self) -> None:
        """Calls no further step, and waits for the one that is being called, but not for long. It
        may be called again."""
        if self._running.thread.elsewhere or self._ended:
            return
        with self._changed:
            self._ended = self._of_records.has_ended = True
            self._changed.notify_all()
        # On the broker's own thread there is no wait: the step may wait for that thread.
        if not self._running.thread.here and self._turn.acquire(timeout=GRACE_S):
            self._turn.release()
            self.join()

    def join(self) -> None:
        """Waits until the thread has ended, after the end, or the stop of the brokers."""
        if self._worker is not None and self._worker is not threading.current_thread():
            self._worker.join(ENDS_WITHIN_S)

    def _due_of(self, index: int, number: int) -> int:
        return self._begun_ms + (self._steps[index].due_ms(number) or 0)

    def _due_ms(self) -> int | None:
        """The time of the next step (ms); None if there is none."""
        return None if self._ended or not self._due else self._due[0][0]

    def _work(self) -> None:
        while self._is_awaited():
            self._call_due()

    def _is_awaited(self) -> bool:
        """Waits until a step is due; False if there is none."""
        with self._changed:
            while (due := self._due_ms()) is not None:
                left = due - self._clock.now()
                if left <= 0:
                    return True
                self._changed.wait(self._seconds(left))
            return False

    def _seconds(self, milliseconds: int) -> float | None:
        """The wait (s) for this many milliseconds of the clock; None until the clock changes."""
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
            due, now = self._due_ms(), self._clock.now()
            if due is None or due > now:
                return None
            _, index, number = heappop(self._due)
            following = max(number + 1, self._steps[index].number_at(now - self._begun_ms))
            if self._steps[index].due_ms(following) is not None:
                heappush(self._due, (self._due_of(index, following), index, following))
            return index

    def _call(self, index: int) -> None:
        kafka, step = self._kafka(), self._steps[index]
        if kafka is None:
            return
        try:
            step.call.verb.call(kafka, **step.call.given)
        except Exception as problem:  # the step has failed
            self._note(index, problem)
        else:
            self._note(index, None)

    def _note(self, index: int, problem: Exception | None) -> None:
        """A call of a step is over, with an error or without. The same error is logged once."""
        before, call = self._outcomes[index], self._steps[index].call
        after = before._replace(calls=before.calls + 1)
        if problem is not None:
            said = f"{type(problem).__name__}: {problem}"
            after = after._replace(state=FAILED, problem=said)
            if not self._ended and said != before.problem:
                log.warning("%s: the step %s%s failed: %s", call.where, before.verb, self._when(index), said)
        elif before.state != FAILED and not self._is_to_come(index, after.calls):
            after = after._replace(state=DONE)
        self._outcomes[index] = after

    def _is_to_come(self, index: int, calls: int) -> bool:
        """Whether a step will be called again."""
        trigger = self._steps[index].on_record
        if trigger is not None:
            return calls != trigger.times
        with self._changed:
            return any(each == index for _, each, _ in self._due)

    def _when(self, index: int) -> str:
        step = self._steps[index]
        return f" at {step.at:g} s" if step.on_record is None else f" for a record of {step.on_record.topic}"
