"""The views of a double, made once for all pages that are open, and within a budget.

Rules. A view is made again at the earliest after `PAUSE_S`, after the time in which `BYTES_PER_S`
have its size, and after `IDLE_SHARE` times as long as it took to make it, now or the last time: the
first time has the imports in it. So open pages cost a server a twentieth of a processor for each
view at most, and a large view comes in longer intervals.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from kafkadouble.common.errors import KafkaError
from kafkadouble.control.http.streams import event, event_of_text
from kafkadouble.verbs.registry import VERBS

from .topic_pieces import TopicPieces

if TYPE_CHECKING:
    from kafkadouble.verbs.double_api import DoubleApi

PAUSE_S, BYTES_PER_S, IDLE_SHARE = 0.25, 256_000, 20

WITHOUT = {"describe_cluster": "now_ms"}
"""View -> a field that changes although nothing happens."""


class MadeView(NamedTuple):
    """The event of a view, when it may be made again, and how long it took."""

    text: str
    again_s: float
    took_s: float


class SharedViews:
    """The views of one double. `now` has the time in seconds. `made` counts the views that were
    made, by name."""

    def __init__(self, kafka: DoubleApi, now: Callable[[], float] = time.monotonic) -> None:
        self._kafka, self._now = kafka, now
        self._views: dict[str, MadeView] = {}
        self._locks: dict[str, Lock] = {}
        self.topics = TopicPieces()
        self.made: dict[str, int] = {}

    def look(self, name: str) -> tuple[str, float]:
        """The event of a view, and the seconds until it may be made again: it may be older than the
        double by so much. Call it on another thread than the brokers'."""
        with self._locks.setdefault(name, Lock()):
            known = self._views.get(name)
            now = self._now()
            if known is not None and now < known.again_s:
                return known.text, known.again_s - now
            text = self._text(name)
            self.made[name] = self.made.get(name, 0) + 1
            took_s = self._now() - now
            steady_s = 0.0 if known is None else min(took_s, known.took_s)
            pause_s = max(PAUSE_S, len(text) / BYTES_PER_S, IDLE_SHARE * steady_s)
            self._views[name] = MadeView(text, now + pause_s, took_s)
            return text, 0

    def _text(self, name: str) -> str:
        """The event; that of an empty view while no broker runs that could be asked."""
        try:
            if name == "topics":
                return event_of_text(name, self.topics.text(self._kafka))
            found = VERBS[name].call_json(self._kafka, {})
            if isinstance(found, dict):
                found.pop(WITHOUT.get(name), None)
            return event(name, found)
        except KafkaError:
            return event(name, {})


_of_double: WeakKeyDictionary[DoubleApi, SharedViews] = WeakKeyDictionary()


def shared_views(kafka: DoubleApi) -> SharedViews:
    """The views of a double: every stream has the same."""
    return _of_double.setdefault(kafka, SharedViews(kafka))
