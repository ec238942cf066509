"""Waits for a state of a double, and says what was there instead when it does not come.

The broker's own thread looks, now and after each call into a node, so that no state that lasts is
missed and no time is lost.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.server.network.clock import stands_still

if TYPE_CHECKING:
    from types import FrameType

    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.engine.running import Running

T = TypeVar("T")

PACE = 10
"""How many times as fast as the machine's clock a clock goes that a wait advances: a client that
sends a heartbeat every 3 seconds keeps its session of 45 seconds."""

IN_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""The flags of code that an event loop runs."""

STEP_SECONDS = 0.05
"""How often a wait advances the clock, in seconds of the machine's clock."""

STANDS_STILL = (
    "The clock of the double stands still, so nothing happens there that takes time, and a client may wait for it "
    "for ever: let time pass with the verb advance, or with the parameter advance of this wait"
)

Advance = Callable[[float], None]
"""Lets time pass on the clock of the double, in seconds."""


@dataclass(frozen=True, slots=True)
class Awaited(Generic[T]):
    """A state: `what` in words, how to `observe` it on the broker's thread, whether what was
    observed `holds`, and how to `show` it. A KafkaError in `observe` means that it does not hold
    yet."""

    what: str
    observe: Callable[[ClusterApi], T]
    holds: Callable[[T], bool]
    show: Callable[[T], str]


class _Wait(Generic[T]):
    """A wait that began: `result` is what is observed once the state holds."""

    def __init__(self, running: Running, awaited: Awaited[T]) -> None:
        if running.thread.here:
            raise UsageError("a function that runs on the broker's thread cannot wait for the broker")
        self._running, self._awaited = running, awaited
        self.result: Future[T] = running.thread.hold(Future())
        running.thread.call(lambda: running.broker.watches.add(self._look))

    def _look(self) -> bool:
        if self.result.done():
            return True
        try:
            observed = self._awaited.observe(self._running.broker)
            if self._awaited.holds(observed):
                self.result.set_result(observed)
        except KafkaError:
            return False
        except BaseException as failure:  # raised where the result is waited for
            self.result.set_exception(failure)
        return self.result.done()

    def end(self) -> None:
        """Looks no more."""
        if self._running.thread.running:
            self._running.thread.call(lambda: self._running.broker.watches.drop(self._look))
        self.result.cancel()


def outcome(running: Running, awaited: Awaited[T], timeout: float, advance: Advance | None = None) -> T:
    """Waits until the state holds; returns its observation. With `advance`, the clock goes on
    meanwhile. Raises TimeoutError, which says what was there instead."""
    check(timeout=timeout)
    refuse_event_loop(running)
    wait = _Wait(running, awaited)
    try:
        return _result_within(wait.result, timeout, advance)
    except CancelledError:
        raise _stopped() from None
    except TimeoutError:
        raise too_late(running, awaited, timeout, advance) from None
    finally:
        wait.end()


def refuse_event_loop(running: Running) -> None:
    """A coroutine of the caller may be what the wait is for, and could not run."""
    if running.thread.here or not is_in_event_loop():  # the first has an error of its own
        return
    raise UsageError(
        "this wait would block the event loop that runs in this thread, and each client in it: "
        "await the method of kafka.aio that has the same name, or call it with asyncio.to_thread"
    )


def is_in_event_loop() -> bool:
    """Whether an event loop of this thread has made this call, by a coroutine or by a callback. One
    that runs in another greenlet has not: Playwright's synchronous API has such a loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_flags & IN_COROUTINE or frame.f_code is asyncio.Handle._run.__code__:
            return True
        frame = frame.f_back
    return False


def _result_within(result: Future[T], timeout: float, advance: Advance | None) -> T:
    if advance is None:
        return result.result(timeout)
    end = time.monotonic() + timeout
    while not result.done() and (left := end - time.monotonic()) > 0:
        try:
            return result.result(min(STEP_SECONDS, left))
        except TimeoutError:
            advance(PACE * STEP_SECONDS)
    return result.result(0)


async def outcome_later(running: Running, awaited: Awaited[T], timeout: float, advance: Advance | None = None) -> T:
    """As `outcome`, for a program with an event loop of its own."""
    check(timeout=timeout)
    wait = _Wait(running, awaited)
    later = asyncio.wrap_future(wait.result)
    try:
        await _done_within(later, timeout, advance)
        if not later.done():
            raise too_late(running, awaited, timeout, advance)
        if later.cancelled():
            raise _stopped()
        return later.result()
    finally:
        wait.end()


async def _done_within(later: asyncio.Future[T], timeout: float, advance: Advance | None) -> None:
    if advance is None:
        await asyncio.wait([later], timeout=timeout)
        return
    end = time.monotonic() + timeout
    while not later.done() and (left := end - time.monotonic()) > 0:
        await asyncio.wait([later], timeout=min(STEP_SECONDS, left))
        if not later.done():
            await asyncio.to_thread(advance, PACE * STEP_SECONDS)


def _stopped() -> UsageError:
    return UsageError("the double was stopped meanwhile")


def too_late(running: Running, awaited: Awaited[Any], timeout: float, advance: Advance | None) -> TimeoutError:
    """The error of a wait that ends without the state."""

    def instead() -> str:
        try:
            return awaited.show(awaited.observe(running.broker))
        except KafkaError as problem:
            return str(problem)

    there = running.thread.call(instead)
    hint = f". {STANDS_STILL}" if advance is None and stands_still(running.broker.clock) else ""
    return TimeoutError(f"{awaited.what}: not within {timeout:g} s. There is: {there}{hint}")
