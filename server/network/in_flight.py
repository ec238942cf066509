"""A request from one node to another of the same process, until its sender has the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..raft.request_manager import OutboundRequest
from ..requests.request import Request
from ..tracing.trace import ABANDONED

if TYPE_CHECKING:
    from ..node import Node
    from ..raft.outbound_channel import OutboundChannel
    from ..requests.waiting import HandlerTask


class InFlightRequest:
    """A request from one member to another, on a channel of the sender. `expires` is when the
    sender gives it up (ms)."""

    __slots__ = ("channel", "client_id", "expires", "is_lost_later", "request", "send", "sender", "target", "task")

    def __init__(
        self, sender: Node, channel: OutboundChannel, client_id: str, send: OutboundRequest, target: Node, expires: int
    ) -> None:
        self.sender, self.channel, self.send, self.target = sender, channel, send, target
        self.client_id, self.expires = client_id, expires
        # Its receiver has left, and the sender learns it when the request expires.
        self.is_lost_later = False
        # From when it is handed to its receiver, and while it waits there.
        self.request: Request[Any] | None = None
        self.task: HandlerTask | None = None

    def end_trace(self, outcome: str, answer: Any = None, response_bytes: int | None = None) -> None:
        """Tells the receiver's trace, if there is one."""
        if self.request is not None and self.request.trace is not None:
            self.request.trace.end(outcome, self.target.now, answer, response_bytes)

    def abandon(self) -> None:
        """Ends what the receiver does for it, if it waits there."""
        if self.task is not None:
            self.task.close()
            self.task = None
            self.end_trace(ABANDONED)

    def is_on(self, link: set[int]) -> bool:
        return {self.sender.id, self.target.id} == link

    def is_one_of(self, channel: OutboundChannel, tokens: set[int]) -> bool:
        return self.channel is channel and self.send.token in tokens
