"""How the shell of a node shares out its loop: turns that are limited by time, and work on another thread.

Rules. In one round of the loop requests are begun for `TURN_S`, those that peers sent ahead for as long
again, and so are slices of wide ones worked on; what is left waits for the next round, so that sockets are read and timers ring meanwhile.
An `Aside` of a handler runs on another thread, one at a time: together they take the memory of one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import cache, partial
from time import perf_counter
from typing import Any

from ..requests.waiting import Aside, HandlerTask

TURN_S = 0.02


class Turn:
    """The part of one round of the loop in which requests are begun. It starts with its first request."""

    def __init__(self) -> None:
        self._end: float | None = None

    def is_over(self) -> bool:
        if self._end is None:
            self._end = perf_counter() + TURN_S
            asyncio.get_running_loop().call_soon(self._next)  # the first call of the next round
            return False
        return perf_counter() >= self._end

    def _next(self) -> None:
        self._end = None


def work(tick: Callable[[], None], is_busy: Callable[[], bool]) -> None:
    """Tick a node, and again for a turn while it is busy."""
    end = perf_counter() + TURN_S
    tick()
    while is_busy() and perf_counter() < end:
        tick()


def _run(aside: Aside) -> None:
    """Do the work, and give back what it took: glibc keeps freed memory for the thread that had it."""
    aside.run()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], Any] | None:
    try:
        import ctypes

        found: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (ImportError, AttributeError, OSError, TypeError):  # another C library, or another system
        return None
    return found


class Asides:
    """What handlers do aside. `done` is called after each."""

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done
        self._waiting: deque[tuple[Aside, HandlerTask]] = deque()
        self._running: asyncio.Future[None] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        """While there is one; without it everything is done at once."""

    def add(self, aside: Aside, task: HandlerTask) -> None:
        if self.loop is None:
            aside.run()
            task.woken()
            return
        self._waiting.append((aside, task))
        self._begin()

    def _begin(self) -> None:
        while self._waiting and self._running is None and self.loop is not None:
            aside, task = self._waiting.popleft()
            if task.alive:
                self._running = self.loop.run_in_executor(None, _run, aside)
                self._running.add_done_callback(partial(self._end, task))

    def _end(self, task: HandlerTask, done: asyncio.Future[None]) -> None:
        self._running = None
        task.woken()
        self._begin()
        self._done()

    async def stop(self) -> None:
        """Wait for what is running; whoever waits for the rest is gone."""
        self.loop = None
        self._waiting.clear()
        if self._running is not None:
            await asyncio.wait([self._running])

    def __repr__(self) -> str:
        return f"{len(self._waiting)} asides waiting, {'one' if self._running else 'none'} running"
