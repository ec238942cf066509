"""Shares the time of a node's event loop: turns that are limited in time, and work on another
thread.

In one round of the loop, new requests are handled for `TURN_S` seconds, requests that had to wait
for as long again, and slices of large requests too. The rest waits for the next round, so that
sockets are read and timers fire in between. Requests wait by API, and the APIs take turns: a flood
of one does not delay the others. Requests that clients sent before the previous answer have
separate turns: they do not delay a client that sends one request at a time. An `Aside` of a handler
runs on another thread. Only one runs at a time, so that they need the memory of one.
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
    """The part of one round of the loop in which requests are started. It begins with the first
    request."""

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


class WaitingConnections:
    """Connections whose next request waits, by the key of its API and whether more are behind
    it."""

    def __init__(self) -> None:
        self._by_kind: dict[tuple[int, bool], deque[Callable[[], None]]] = {}

    def add(self, api_key: int, ahead: bool, go_on: Callable[[], None]) -> None:
        """`go_on` begins the next requests of the connection, of which there are several if it has
        sent some `ahead`."""
        self._by_kind.setdefault((api_key, ahead), deque()).append(go_on)

    def take(self) -> Callable[[], None]:
        """Removes the connection that has waited longest for the next kind of request."""
        kind = next(iter(self._by_kind))
        connections = self._by_kind.pop(kind)
        found = connections.popleft()
        if connections:
            self._by_kind[kind] = connections
        return found

    def __bool__(self) -> bool:
        return bool(self._by_kind)


class RequestTurns:
    """When the connections of a listener begin requests. `done` is called after each turn of those
    that had to wait."""

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done
        self._new, self._waited = Turn(), Turn()
        self._waiting = WaitingConnections()
        self._scheduled = False

    def is_over(self, ahead: bool) -> bool:
        """Whether a new request, or one that had to wait, is begun in a later round."""
        return (self._waited if ahead else self._new).is_over()

    def wait(self, api_key: int, ahead: bool, go_on: Callable[[], None]) -> None:
        """Calls `go_on` when it is the turn of a connection."""
        self._waiting.add(api_key, ahead, go_on)
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._serve)

    def _serve(self) -> None:
        self._scheduled = False
        try:
            while self._waiting and not self._waited.is_over():
                self._waiting.take()()
        finally:
            if self._waiting:
                self._schedule()
        self._done()

    def __repr__(self) -> str:
        return "connections that take turns"


def work(tick: Callable[[], None], is_busy: Callable[[], bool]) -> None:
    """Ticks a node, and again while it is busy, for at most `TURN_S` seconds."""
    end = perf_counter() + TURN_S
    tick()
    while is_busy() and perf_counter() < end:
        tick()


def _run(aside: Aside) -> None:
    """Runs the work and returns its memory to the system: glibc keeps freed memory for the thread
    that used it."""
    aside.run()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], Any] | None:
    try:
        import ctypes

        malloc_trim: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    # Another C library, or another system.
    except (ImportError, AttributeError, OSError, TypeError):
        return None
    return malloc_trim


class Asides:
    """Runs the asides of handlers. `done` is called after each."""

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done
        self._waiting: deque[tuple[Aside, HandlerTask]] = deque()
        self._running: asyncio.Future[None] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop while it runs. Without it, an aside runs at once."""

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
        """Waits for the running aside. The others are dropped: their connections are closed."""
        self.loop = None
        self._waiting.clear()
        if self._running is not None:
            await asyncio.wait([self._running])

    def __repr__(self) -> str:
        return f"{len(self._waiting)} asides waiting, {'one' if self._running else 'none'} running"
