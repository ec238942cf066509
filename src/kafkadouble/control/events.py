"""Requests as they come, as server-sent events.

    event: request
    id: 12
    data: {"number": 12, "api": "Produce", "outcome": "answered", ...}

Rules. An event says that a request arrived, and another one that it ended, if it waited; both have
the number of the request. The stream reads the history, which is bounded: a reader that is too slow
gets `event: lost` with the number of requests that it missed, and the server does not grow.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from kafkadouble.server.tracing.trace import WAITING

from .calls import newest_number, requests_after, short

if TYPE_CHECKING:
    from kafkadouble.double import KafkaDouble
    from kafkadouble.server.tracing.history import SeenRequest

PAUSE_S = 0.05
"""Requests that come within this time are read together."""

KEEP_ALIVE_S = 15
"""After so long without an event, a comment keeps the connection open."""

BATCH = 500
MOST_WAITING = 1000
"""The requests of which a stream says that they ended."""


class RequestEvents:
    """One stream of the requests after a number."""

    def __init__(self, kafka: KafkaDouble, after: int | None) -> None:
        self._kafka = kafka
        self._last = after
        self._waiting: dict[int, SeenRequest] = {}
        self._loop = asyncio.get_running_loop()
        self._due = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[str]:
        """The text of the events, until the double stops."""
        running = self._kafka._serving()
        running.thread.call(lambda: running.broker.watches.add(self._look))
        try:
            if self._last is None:
                self._last = newest_number(self._kafka)
            yield ": kafkadouble\n\n"
            while running.thread.running:
                yield await asyncio.to_thread(self._new)
                await self._pause()
        finally:
            if running.thread.running:
                running.thread.call(lambda: running.broker.watches.drop(self._look))

    def _look(self) -> bool:
        """On the broker's thread, after each call into a node."""
        if not self._due.is_set():
            self._loop.call_soon_threadsafe(self._due.set)
        return False

    async def _pause(self) -> None:
        await asyncio.sleep(PAUSE_S)
        try:
            await asyncio.wait_for(self._due.wait(), KEEP_ALIVE_S)
        except TimeoutError:
            return
        self._due.clear()

    def _new(self) -> str:
        """The events since the last call; a comment if there are none."""
        made = [_event("request", each.number, short(each)) for each in self._ended()]
        while found := requests_after(self._kafka, self._last or 0, BATCH):
            made += self._of(found)
        return "".join(made) or ": nothing new\n\n"

    def _of(self, found: list[SeenRequest]) -> list[str]:
        last = self._last or 0
        missed = found[0].number - last - 1
        made = [_event("lost", last, {"requests": missed})] if missed > 0 and last else []
        self._last = found[-1].number
        for each in found:
            made.append(_event("request", each.number, short(each)))
            if each.outcome == WAITING and len(self._waiting) < MOST_WAITING:
                self._waiting[each.number] = each
        return made

    def _ended(self) -> list[SeenRequest]:
        ended = [each for each in self._waiting.values() if each.outcome != WAITING]
        for each in ended:
            del self._waiting[each.number]
        return ended


def _event(name: str, id: int, data: Any) -> str:
    return f"event: {name}\nid: {id}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
