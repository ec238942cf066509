"""Requests of a node to the active controller, wherever that is: sent to whom the quorum says that leads, again until one answers that he does.

Rules. One request at a time, in order. A request waits for as long as nobody leads; an answer NOT_CONTROLLER, or none, is followed by a pause,
after which whoever leads by then is asked; that may be this node, which then asks itself. Nothing here knows a socket or a clock: it is a
`Sending` for the shell of `peers` (KIP-919).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count
from types import GeneratorType
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message

from .. import dispatch
from ..apis.served import CONTROLLER_SERVED
from ..raft.links import Failure, Peer, Send
from ..requests.request import Peer as OtherEnd
from ..requests.request import Request

if TYPE_CHECKING:
    from ..node import Node

BACKOFF_MS = 100


class Asked(NamedTuple):
    """A request, its versions, and who is told the answer: None when it can never be answered."""

    body: Message
    version: int
    lowest: int
    done: Callable[[Any], None]


class ToController:
    """One conversation with the active controller."""

    def __init__(self, node: Node) -> None:
        self._node = node
        host, port = node.advertised
        self._self = OtherEnd(0, host, port, apis=CONTROLLER_SERVED)
        self._waiting: deque[Asked] = deque()
        self._tokens = count(1)
        self._under_way: int | None = None
        self._paused_until = self._now = node.now

    def ask(self, body: Message, version: int, done: Callable[[Any], None], *, lowest: int = 0) -> None:
        """Have it answered, some time."""
        self._waiting.append(Asked(body, version, lowest, done))

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked, or waits to be."""
        return not self._waiting

    def take_outgoing(self) -> list[Send]:
        """The next request, where there is one, and somebody leads."""
        if self._under_way is not None or not self._waiting or self._now < self._paused_until:
            return []
        if self._node.controller.leads:
            self._ask_self(self._waiting[0])
            return []
        leader = self._leader()
        if leader is None:
            return []
        asked, self._under_way = self._waiting[0], next(self._tokens)
        return [Send(self._under_way, leader, asked.body, asked.version, asked.lowest)]

    def _leader(self) -> Peer | None:
        replica = self._node.quorum.replica
        at, id = replica.endpoint_of_leader(), replica.leader_id
        return None if at is None or id is None or id == replica.key.id else Peer(id, at)

    def _ask_self(self, asked: Asked) -> None:
        node, key = self._node, asked.body.api_key or 0
        self._under_way = token = next(self._tokens)
        request: Request[Any] = Request(
            key, asked.version, token, str(node.id), asked.body, self._self, received=node.now, size=0
        )
        result = dispatch.handled(node, request)
        if isinstance(result, GeneratorType):
            node.waiting.start(
                result,
                lambda answer: self.answered(token, answer, node.now),
                lambda failure: self.answered(token, None, node.now),
            )
        else:
            self.answered(token, result, node.now)  # type: ignore[arg-type]  # what is no generator is an answer

    def answered(self, token: int, response: Message | Failure | None, now: int) -> None:
        """What has become of it."""
        self._now = now
        if token != self._under_way:
            return
        self._under_way = None
        if response in (None, Failure.LOST) or getattr(response, "error_code", 0) == error_codes.NOT_CONTROLLER:
            self._paused_until = now + BACKOFF_MS
            return
        asked = self._waiting.popleft()
        asked.done(response if isinstance(response, Message) else None)

    def tick(self, now: int) -> None:
        """Time has passed."""
        self._now = now

    def next_deadline(self) -> int | None:
        """When to look again, where something waits."""
        if not self._waiting or self._under_way is not None:
            return None
        return max(self._paused_until, self._now + BACKOFF_MS)

    def __repr__(self) -> str:
        return f"{len(self._waiting)} requests to the active controller"
