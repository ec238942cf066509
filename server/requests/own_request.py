"""A request that a node sends to itself: it crosses no connection, faults or traces."""

from __future__ import annotations

from collections.abc import Callable
from types import GeneratorType
from typing import Any, Protocol

from kafkadouble.messages.message import Message

from .answer import Answer
from .listener_spec import ListenerSpec
from .request import OWNER, Peer, Request
from .waiting import Wait, Waiting


class OwnRequestHost(Protocol):
    """A node, as what sends requests to it from inside sees it."""

    @property
    def id(self) -> int: ...

    @property
    def now(self) -> int: ...

    @property
    def advertised(self) -> tuple[str, int]: ...

    @property
    def waiting(self) -> Waiting: ...

    def handle(self, request: Request[Any]) -> Answer | Wait[Answer]: ...


def send_to_self(
    node: OwnRequestHost, listener: ListenerSpec, body: Message, version: int, token: int, done: Callable[[Any], None]
) -> None:
    """Handle a request as one that came to `listener`. `done` is called once with the answer, or
    with None if the handler failed."""
    peer = Peer(OWNER, *node.advertised, listener)
    key = body.api_key or 0
    result = node.handle(Request(key, version, token, str(node.id), body, peer, received=node.now, size=0))
    if isinstance(result, GeneratorType):
        node.waiting.start(result, done, lambda failure: done(None))
    else:
        done(result)
