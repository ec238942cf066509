"""A request that a node sends to itself: a broker to its own controller, and a coordinator to the
partitions that its own broker leads.

Apache Kafka sends it over a socket. Here it crosses no connection, but the trace and the fault
rules see it as a request between nodes. It is given up after `request.timeout.ms`, as one that was
lost on the way to another node.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GeneratorType
from typing import Any, Protocol

from kafkadouble.messages.message import Message

from ..logs.host import NodeHost
from ..requests.answer import DISCONNECT, Answer, without_frame
from ..requests.listener_spec import ListenerSpec
from ..requests.request import OWNER, Peer, Request
from ..requests.timers import Timer
from ..requests.waiting import HandlerTask, Wait
from ..tracing.trace import ABANDONED, ANSWERED, DISCONNECTED, UNANSWERED, Trace, TracedRequest


class OwnRequestHost(NodeHost, Protocol):
    """A node, as what sends requests to it from inside sees it."""

    @property
    def advertised(self) -> tuple[str, int]: ...

    @property
    def trace(self) -> Trace: ...

    def handle(self, request: Request[Any]) -> Answer | Wait[Answer]: ...


def send_to_self(
    node: OwnRequestHost,
    listener: ListenerSpec,
    body: Message,
    version: int,
    token: int,
    done: Callable[[Message | None], None],
    cause: TracedRequest | None = None,
) -> None:
    """Handles a request as one that came to `listener`. `done` is called once with the answer, or
    with None if there is none. `cause`: the request inside, if it is an Envelope."""
    peer = Peer(OWNER, *node.advertised, listener)
    peer.is_node = True
    request = Request(body.api_key or 0, version, token, str(node.id), body, peer, received=node.now, size=0)
    OwnRequest(node, request, done).begin(cause)


class OwnRequest:
    """One request of a node to itself, until its sender has the outcome."""

    __slots__ = ("_done", "_expiry", "_node", "_request", "_task")

    def __init__(self, node: OwnRequestHost, request: Request[Any], done: Callable[[Message | None], None]) -> None:
        self._node, self._request, self._done = node, request, done
        self._task: HandlerTask | None = None
        self._expiry: Timer | None = None

    def begin(self, cause: TracedRequest | None) -> None:
        """Hands it to the node."""
        node, request = self._node, self._request
        if node.trace.is_on:
            node.trace.begin(request, node.trace.nanos(), cause=cause)
        result = node.handle(request)
        if not isinstance(result, GeneratorType):
            self._answered(result)
            return
        task = node.waiting.start(result, self._answered, lambda failure: self._answered(DISCONNECT))
        if task.alive:
            self._task = task
            if request.trace is not None:
                request.trace.waits()
            timeout_ms = node.settings.int("request.timeout.ms")
            self._expiry = node.waiting.timers.at(node.now + timeout_ms, self._expire)

    def _answered(self, answer: Any) -> None:
        answer = without_frame(answer)
        if isinstance(answer, Message):
            self._end(ANSWERED, answer)
        else:
            self._end(UNANSWERED if answer is None else DISCONNECTED)

    def _expire(self, now: int) -> None:
        if self._task is not None:
            self._task.close()
        self._end(ABANDONED)

    def _end(self, outcome: str, answer: Message | None = None) -> None:
        self._task = None  # which refers to this: both would wait for a collection of garbage
        if self._expiry is not None:
            self._expiry.cancel()
        if self._request.trace is not None:
            self._request.trace.end(outcome, self._node.now, answer)
        self._done(answer)

    def __repr__(self) -> str:
        return f"{self._request!r} of node {self._node.id} to itself"
