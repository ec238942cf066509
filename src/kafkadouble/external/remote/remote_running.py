"""The stand-in for the thread of a double: the verbs read and change a Kafka one at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from .remote_cluster import RemoteCluster

T = TypeVar("T")


class RemoteThread:
    """Runs functions and coroutines on the thread of the caller, one at a time."""

    running, elsewhere, here = True, False, False

    def __init__(self, cluster: RemoteCluster) -> None:
        self._cluster, self._lock = cluster, threading.RLock()

    def call(self, function: Callable[..., T], *args: Any) -> T:
        """The result of a function, which sees the Kafka as it is now."""
        with self._lock:
            self._cluster.settle()
            return function(*args)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine. The caller may be in a loop of its own, so it has another
        thread."""
        found: list[T] = []
        problems: list[BaseException] = []

        def complete() -> None:
            try:
                found.append(asyncio.run(coroutine))
            except BaseException as problem:  # raised on the thread of the caller
                problems.append(problem)

        with self._lock:
            self._cluster.settle()
            thread = threading.Thread(target=complete, name="kafkadouble-remote", daemon=True)
            thread.start()
            thread.join()
        if problems:
            raise problems[0]
        return found[0]


class RemoteRunning:
    """A Kafka that runs elsewhere: `broker` is its brokers, `thread` runs what reads them."""

    def __init__(self, cluster: RemoteCluster) -> None:
        self.broker = cluster
        self.thread = RemoteThread(cluster)

    def on_thread(self, function: Callable[[], T]) -> T:
        """The result of a function that only reads."""
        return self.thread.call(function)

    def __repr__(self) -> str:
        return repr(self.broker)
