"""Waits for a state of a double, and says what was there instead when it does not come.

The broker's own thread looks, now and after each call into a node, so that no state that lasts is
missed and no time is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .arguments import check
from .errors import KafkaError, UsageError

if TYPE_CHECKING:
    from .broker import Broker
    from .cluster import Cluster
    from .running import Running

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Awaited(Generic[T]):
    """A state: `what` in words, how to `observe` it on the broker's thread, whether what was
    observed `holds`, and how to `show` it. A KafkaError in `observe` means that it does not hold
    yet."""

    what: str
    observe: Callable[[Broker | Cluster], T]
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
        except BaseException as failure:
            self.result.set_exception(failure)
        return self.result.done()

    def end(self) -> None:
        """Look no more."""
        if self._running.thread.running:
            self._running.thread.call(lambda: self._running.broker.watches.drop(self._look))
        self.result.cancel()


def outcome(running: Running, awaited: Awaited[T], timeout: float) -> T:
    """What is observed once the state holds. Raises TimeoutError, which says what was there
    instead."""
    check(timeout=timeout)
    wait = _Wait(running, awaited)
    try:
        return wait.result.result(timeout)
    except CancelledError:
        raise _stopped() from None
    except TimeoutError:
        raise _too_late(running, awaited, timeout) from None
    finally:
        wait.end()


async def outcome_later(running: Running, awaited: Awaited[T], timeout: float) -> T:
    """As `outcome`, for a program with an event loop of its own."""
    check(timeout=timeout)
    wait = _Wait(running, awaited)
    later = asyncio.wrap_future(wait.result)
    try:
        await asyncio.wait([later], timeout=timeout)
        if not later.done():
            raise _too_late(running, awaited, timeout)
        if later.cancelled():
            raise _stopped()
        return later.result()
    finally:
        wait.end()


def _stopped() -> UsageError:
    return UsageError("the double was stopped meanwhile")


def _too_late(running: Running, awaited: Awaited[Any], timeout: float) -> TimeoutError:
    def instead() -> str:
        try:
            return awaited.show(awaited.observe(running.broker))
        except KafkaError as problem:
            return str(problem)

    return TimeoutError(f"{awaited.what}: not within {timeout:g} s. There is: {running.thread.call(instead)}")
