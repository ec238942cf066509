"""Sends requests of a node to the active controller, wherever that is, until it answers (KIP-919).

One request at a time, in order. A request waits while there is no active controller. After
NOT_CONTROLLER, or no answer, it is sent after a pause to the controller that is active then; if
that is this node, it handles the request itself. This file knows no socket and no clock: it is a
`OutboundChannel` for the shell in `peers`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message

from ..coordinator.own_request import send_to_self
from ..raft.request_manager import OutboundRequest, RaftPeer, RequestFailure
from ..requests.listener_spec import of_controllers

if TYPE_CHECKING:
    from .host import BrokerHost

BACKOFF_MS = 100


class NodeToControllerQueueItem(NamedTuple):
    """A request, its versions, the callback for its answer (None if it can never be answered), and
    the TracedRequest that it forwards, if it forwards one.
    """

    body: Message
    version: int
    lowest: int
    done: Callable[[Any], None]
    cause: Any


class NodeToControllerChannel:
    """One queue of requests to the active controller."""

    def __init__(self, node: BrokerHost) -> None:
        self._node = node
        self._queue: deque[NodeToControllerQueueItem] = deque()
        self._tokens = count(1)
        self._in_flight: int | None = None
        self._paused_until = self._now = node.now

    def send_request(
        self, body: Message, version: int, done: Callable[[Any], None], *, lowest: int = 0, cause: Any = None
    ) -> None:
        """Adds a request to the queue."""
        self._queue.append(NodeToControllerQueueItem(body, version, lowest, done, cause))

    @property
    def is_idle(self) -> bool:
        """Whether the queue is empty and no request is in flight."""
        return not self._queue

    def take_outgoing(self) -> list[OutboundRequest]:
        """The next request, if there is one and the active controller is known."""
        if self._in_flight is not None or not self._queue or self._now < self._paused_until:
            return []
        if self._node.controller.leads:
            self._send_to_self(self._queue[0])
            return []
        replica = self._node.quorum.replica
        at, id = replica.endpoint_of_leader(), replica.leader_id
        leader = None if at is None or id is None or id == replica.key.id else RaftPeer(id, at)
        if leader is None:
            return []
        item, self._in_flight = self._queue[0], next(self._tokens)
        token, body = self._in_flight, item.body
        return [OutboundRequest(token, leader, body, item.version, item.lowest, item.cause)]

    def _send_to_self(self, item: NodeToControllerQueueItem) -> None:
        node = self._node
        self._in_flight = token = next(self._tokens)
        listener = of_controllers(node.listeners)[0]

        def done(answer: Message | None) -> None:
            self.answered(token, answer, node.now)

        send_to_self(node, listener, item.body, item.version, token, done, item.cause)

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        """Handles an answer, or its failure."""
        self._node.advance(now)
        self._now = now
        if token != self._in_flight:
            return
        self._in_flight = None
        if response in (None, RequestFailure.LOST) or getattr(response, "error_code", 0) == error_codes.NOT_CONTROLLER:
            self._paused_until = now + BACKOFF_MS
            return
        item = self._queue.popleft()
        item.done(response if isinstance(response, Message) else None)

    def tick(self, now: int) -> None:
        """Updates the time."""
        self._node.advance(now)
        self._now = now

    def next_deadline(self) -> int | None:
        """When to try again, if a request waits."""
        if not self._queue or self._in_flight is not None:
            return None
        return max(self._paused_until, self._now + BACKOFF_MS)

    def __repr__(self) -> str:
        return f"{len(self._queue)} requests to the active controller"
