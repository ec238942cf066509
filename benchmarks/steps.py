"""Hands requests to a node and measures each step that they take: on the thread of the node, and
aside.

A step is what a node does without serving others in between. `measure` says what a step costs: its
time, or the lines that it executes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from kafkadouble.server.apis.row import ServedApi
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.network.connection_state import State
from kafkadouble.server.network.line import Buffers
from kafkadouble.server.node import Node
from kafkadouble.server.requests.listener_spec import ListenerSpec
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.requests.waiting import Aside, HandlerTask

MOST_STEPS = 100_000
PATIENCE_MS = 60_000
MOST_BYTES = 100 << 20

Measure = Callable[[Callable[[], Any]], float]


class Taken(NamedTuple):
    """The costs of the steps of one request, and the size of its answer."""

    steps: list[float]
    asides: list[float]
    answer_bytes: int
    is_open: bool
    """Whether the connection is still open."""


class Line:
    """Receives the responses of a connection, and keeps their size."""

    def __init__(self) -> None:
        self.sent, self.closed = 0, False

    def write(self, buffers: Buffers) -> None:
        self.sent += sum(map(len, buffers))

    def close(self) -> None:
        self.closed = True

    def read_on(self, on: bool) -> None: ...

    def turn_is_over(self, ahead: bool) -> bool:
        return False

    def others_first(self) -> None: ...


class Asker:
    """A client of a node. Time passes only while a request waits for it."""

    def __init__(self, node: Node, listener: ListenerSpec, served: ServedApi) -> None:
        self._node, self._line = node, Line()
        self._asides = deque[tuple[Aside, HandlerTask]]()
        peer = Peer(1, "127.0.0.1", 1, listener._replace(apis={served.api.key: served}))
        self._connection = Connection(node, peer, self._line, MOST_BYTES)

    def ask(self, frame: bytes, measure: Measure, now: int) -> Taken:
        """Hands in a frame with its size, and goes on until it is answered, or waits for longer
        than `PATIENCE_MS`."""
        node, steps, asides, end = self._node, list[float](), list[float](), now + PATIENCE_MS
        node.waiting.aside = lambda aside, task: self._asides.append((aside, task))
        step: Callable[[], None] = partial(self._connection.receive, frame, now)
        for _ in range(MOST_STEPS):
            steps.append(measure(step))
            while self._asides:
                aside, task = self._asides.popleft()
                asides.append(measure(aside.run))
                task.woken()
            due = self._due(now)
            if due is None or due > end:
                break
            now = max(now, due)
            step = partial(node.tick, now)
        return Taken(steps, asides, self._line.sent, not self._line.closed)

    def _due(self, now: int) -> int | None:
        if self._connection.state is not State.WAITING:
            return None
        return now if self._node.waiting.is_busy else self._node.next_deadline()
