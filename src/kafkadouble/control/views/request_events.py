"""Requests as they come, as server-sent events.

    event: request
    id: 12
    data: {"number": 12, "api": "Produce", "outcome": "answered", ...}

An event says that a request arrived, and another one that it ended, if it waited; both have the
number of the request. `event: lost` has the number of requests that the stream missed, because the
history did not keep them until the reader was ready. `event: restarted` says that the reader knows
requests of an earlier process: numbers begin at 1 again, and the oldest requests come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.control.calls.verb_calls import newest_number, requests_after, short
from kafkadouble.control.http.streams import EventStream, event
from kafkadouble.server.tracing.trace import WAITING

if TYPE_CHECKING:
    from kafkadouble.server.tracing.history import SeenRequest
    from kafkadouble.verbs.double_api import DoubleApi

BATCH = 500
MOST_WAITING = 1000
"""The requests of which a stream says that they ended."""


class RequestEvents(EventStream):
    """The requests of clients after the one with a number; after the newest one without it."""

    pause_s = 0.05

    def __init__(self, kafka: DoubleApi, after: int | None) -> None:
        super().__init__(kafka)
        newest = newest_number(kafka)
        self._is_earlier = after is not None and after > newest
        self._last = newest if after is None else 0 if self._is_earlier else after
        self._waiting: dict[int, SeenRequest] = {}

    def new(self) -> str:
        """The requests that came, at most a batch of them, and those that waited and ended."""
        made = [event("restarted", {})] if self._is_earlier else []
        self._is_earlier = False
        made += [event("request", short(request), request.number) for request in self._ended()]
        found = requests_after(self.kafka, self._last, BATCH)
        self.has_more = len(found) == BATCH
        if found:
            made += self._of(found)
        return "".join(made)

    def _of(self, requests: list[SeenRequest]) -> list[str]:
        missed = requests[0].number - self._last - 1
        made = [event("lost", {"requests": missed}, self._last)] if missed and self._last else []
        self._last = requests[-1].number
        for request in requests:
            made.append(event("request", short(request), request.number))
            if request.outcome == WAITING and len(self._waiting) < MOST_WAITING:
                self._waiting[request.number] = request
        return made

    def _ended(self) -> list[SeenRequest]:
        ended = [each for each in self._waiting.values() if each.outcome != WAITING]
        for each in ended:
            del self._waiting[each.number]
        return ended
