"""A channel to other nodes whose sender is made when it has something to send for the first time.

Most clusters have no share groups: their brokers start without the modules for that.
"""

from __future__ import annotations

from collections.abc import Callable

from kafkadouble.messages.message import Message

from .outbound_channel import OutboundChannel
from .request_manager import OutboundRequest, RequestFailure


class LazyChannel:
    """`find` returns the sender, or None while there is none. Times are in ms."""

    __slots__ = ("_find",)

    def __init__(self, find: Callable[[], OutboundChannel | None]) -> None:
        self._find = find

    def take_outgoing(self) -> list[OutboundRequest]:
        sender = self._find()
        return [] if sender is None else sender.take_outgoing()

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        sender = self._find()
        assert sender is not None, "only what was sent is answered"
        sender.answered(token, response, now)

    def tick(self, now: int) -> None:
        if (sender := self._find()) is not None:
            sender.tick(now)

    def next_deadline(self) -> int | None:
        sender = self._find()
        return None if sender is None else sender.next_deadline()

    def __repr__(self) -> str:
        return f"a channel of {self._find()!r}"
