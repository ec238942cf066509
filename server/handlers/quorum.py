"""The APIs that the quorum answers: votes, epochs, replication of the metadata log, and its voters.

Each request is passed on to the quorum (KIP-595, KIP-630, KIP-853).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.message import Message

from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def answer(node: HandlerContext, request: Request[Any]) -> Message | Wait[Message]:
    return node.quorum.handle(request)


def refuse(request: Request[Any], code: int, message: str | None) -> Message:
    response: Message = request.peer.apis[request.api_key].api.response(error_code=code)  # type: ignore[call-arg]  # each has one
    if message is not None and hasattr(response, "error_message"):
        response.error_message = message
    return response
