"""Waits for a state of a Kafka, which does not say when something changes: it is read again and
again. The errors are those of a wait for a double."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from kafkadouble import awaited as awaiting
from kafkadouble.arguments import check
from kafkadouble.async_waits import AsyncWaits
from kafkadouble.awaited import Awaited
from kafkadouble.errors import KafkaError, UsageError
from kafkadouble.verbs.waiting import WaitVerbs

from .served import OnlyOnDoubleAttribute

T = TypeVar("T")
V = TypeVar("V")

LOOK_S = 0.02
"""How often a wait looks again."""


def outcome(running: Any, awaited: Awaited[T], timeout: float, over: threading.Event | None = None) -> T:
    """What is observed once the state holds. Raises TimeoutError, which says what was there
    instead. Looks no more once `over` is set."""
    check(timeout=timeout)
    over = over or threading.Event()
    end = time.monotonic() + timeout
    while True:
        found: list[T] = running.thread.call(_looked, awaited, running.broker)
        if found:
            return found[0]
        if time.monotonic() >= end:
            raise awaiting._too_late(running, awaited, timeout)
        if over.wait(LOOK_S):
            raise UsageError("the wait was cancelled")


def _looked(awaited: Awaited[T], broker: Any) -> list[T]:
    """What is observed, if the state holds."""
    try:
        observed = awaited.observe(broker)
    except KafkaError:
        return []
    return [observed] if awaited.holds(observed) else []


class _PolledWaits(WaitVerbs):
    """WaitVerbs whose methods return what is to be awaited."""

    def __init__(self, running: Callable[[], Any]) -> None:
        self._source = running

    def _serving(self) -> Any:
        return self._source()

    _known = _serving

    def _wait(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float) -> Any:
        return self._later(awaited, result, timeout)

    async def _later(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float) -> T:
        over = threading.Event()
        try:
            return result(await asyncio.to_thread(outcome, self._serving(), awaited, timeout, over))
        finally:
            over.set()


class PolledAsyncWaits(AsyncWaits):
    """The verbs that wait for a state of a Kafka, as coroutines."""

    def __init__(self, running: Callable[[], Any]) -> None:
        self._waits: Any = _PolledWaits(running)

    def __repr__(self) -> str:
        return "the waits of a Kafka"


for _name in ("wait_for_rule", "wait_for_request"):
    setattr(PolledAsyncWaits, _name, OnlyOnDoubleAttribute(_name))
