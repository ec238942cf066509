"""A stream of server-sent events that follows a double.

Rules. A stream looks at the double after something happened there, and at most every `pause_s`.
What it has not sent yet it reads from the double, which is bounded, in texts that are bounded, so
that a reader that is too slow costs the server little. It ends when the double stops.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from kafkadouble.common.errors import UsageError
from kafkadouble.host.host import host_of

if TYPE_CHECKING:
    from kafkadouble.verbs.double_api import DoubleApi

KEEP_ALIVE_S = 15
"""After so long without an event, a comment keeps the connection open."""

BEGUN, NOTHING = ": kafkadouble\n\n", ": nothing new\n\n"
"""The comments of a stream: its first line, and one when nothing happened."""


class EventStream(ABC):
    """A stream of events. A subclass says what is new."""

    pause_s: ClassVar[float]
    has_more = False
    """Whether `new` left something, so that the stream goes on without a pause."""
    again_s: float | None = None
    """The seconds until `new` looks again, also when nothing happens meanwhile."""

    def __init__(self, kafka: DoubleApi) -> None:
        self.kafka = kafka
        self._loop = asyncio.get_running_loop()
        self._due = asyncio.Event()

    @abstractmethod
    def new(self) -> str:
        """The events since the last call, or an empty text. It is called on another thread."""

    async def texts(self) -> AsyncGenerator[str, None]:
        """The text of the events."""
        running = host_of(self.kafka).serving()
        running.thread.call(lambda: running.broker.watches.add(self._look))
        ended: Future[None] = running.thread.hold(Future())  # cancelled when the double stops
        ended.add_done_callback(lambda _: self._look())
        try:
            yield BEGUN
            while running.thread.running:
                yield await asyncio.to_thread(self.new) or NOTHING
                if not self.has_more:
                    await self._pause()
        except UsageError:  # the double was stopped
            return
        finally:
            ended.cancel()
            if running.thread.running:
                running.thread.call(lambda: running.broker.watches.drop(self._look))

    def _look(self) -> bool:
        """Looks for news; called on the broker's thread after each call into a node and at the
        stop."""
        if not self._due.is_set():
            with suppress(RuntimeError):  # the loop of the control plane was closed meanwhile
                self._loop.call_soon_threadsafe(self._due.set)
        return False

    async def _pause(self) -> None:
        await asyncio.sleep(self.pause_s)
        try:
            wait_s = KEEP_ALIVE_S if self.again_s is None else min(KEEP_ALIVE_S, self.again_s)
            await asyncio.wait_for(self._due.wait(), wait_s)
        except TimeoutError:
            return
        self._due.clear()


def event(name: str, data: Any, id: int | None = None) -> str:
    """An event as text. `data` is a value for JSON."""
    return event_of_text(name, json.dumps(data, separators=(",", ":")), id)


def event_of_text(name: str, data: str, id: int | None = None) -> str:
    """An event as text. `data` is JSON."""
    number = "" if id is None else f"id: {id}\n"
    return f"event: {name}\n{number}data: {data}\n\n"
