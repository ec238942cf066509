"""Waits for a state of a Kafka, which does not say when something changes: it is read again and
again. The errors are those of a wait for a double."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.host.host import host_of
from kafkadouble.verbs.async_waits import AsyncWaits
from kafkadouble.waits import awaited as awaiting
from kafkadouble.waits.awaited import Awaited

from .remote.served import OnlyOnDouble, OnlyOnDoubleAttribute

T = TypeVar("T")
V = TypeVar("V")

LOOK_S = 0.02
"""How often a wait looks again."""


def outcome(running: Any, awaited: Awaited[T], timeout: float, over: threading.Event | None = None) -> T:
    """Waits until the state holds; returns its observation. Raises TimeoutError, which says what
    was there instead. Looks no more once `over` is set."""
    check(timeout=timeout)
    over = over or threading.Event()
    end = time.monotonic() + timeout
    while True:
        found: list[T] = running.thread.call(_looked, awaited, running.broker)
        if found:
            return found[0]
        if time.monotonic() >= end:
            raise awaiting.too_late(running, awaited, timeout, None)
        if over.wait(LOOK_S):
            raise UsageError("the wait was cancelled")


def _looked(awaited: Awaited[T], broker: Any) -> list[T]:
    """The observation, if the state holds."""
    try:
        observed = awaited.observe(broker)
    except KafkaError:
        return []
    return [observed] if awaited.holds(observed) else []


def check_wait(kafka: object, advance: bool) -> None:
    """Raises OnlyOnDouble for a wait that advances a clock."""
    if advance:
        raise OnlyOnDouble(f"advance: only a double has that, and this is {kafka!r}")


class _PolledWaits:
    """Stands for the host of a Kafka in a verb that waits: it returns what is to be awaited."""

    def __init__(self, kafka: Any) -> None:
        self._kafka = kafka

    def known(self) -> Any:
        """The Kafka that runs."""
        return host_of(self._kafka).known()

    serving = known

    def wait(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float, advance: bool) -> Any:
        check_wait(self._kafka, advance)
        return self._later(awaited, result, timeout)

    async def _later(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float) -> T:
        over = threading.Event()
        try:
            return result(await asyncio.to_thread(outcome, self.serving(), awaited, timeout, over))
        finally:
            over.set()


class PolledAsyncWaits(AsyncWaits):
    """The verbs of a Kafka as coroutines."""

    def __init__(self, kafka: Any) -> None:
        self._kafka = kafka
        self._waits: Any = _PolledWaits(kafka)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            getattr(self._kafka, name)  # what only a double has is said to be so
        return super().__getattr__(name)

    def __repr__(self) -> str:
        return f"the verbs that wait of {self._kafka!r}"


for _name in ("wait_for_rule", "wait_for_request"):
    setattr(PolledAsyncWaits, _name, OnlyOnDoubleAttribute(_name))
