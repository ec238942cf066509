"""From a request to an answer: find the handler, let the rules of the fault plane have their say, and turn failures into answers.

Every request takes this one way, so that faults, history and logging need no second hook. A handler that fails in a way nobody foresaw is
answered with UNKNOWN_SERVER_ERROR, as Kafka does, and logged with its traceback; it never takes the node down.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message

from .handlers import SERVED
from .request import Refusal, Request
from .waiting import Wait

if TYPE_CHECKING:
    from .node import Node

log = logging.getLogger("kafkadouble.server")


class Disconnect:
    """The answer that is none: the connection ends."""

    def __repr__(self) -> str:
        return "disconnect"


DISCONNECT = Disconnect()

Answer = Message | Disconnect | None


def answer(node: Node, request: Request[Any]) -> Answer | Wait[Answer]:
    """The handler's answer, or a generator on its way to it."""
    if node.faults.rules:
        return node.faults.around(request, lambda: _handled(node, request), lambda code: refused(request, code))
    return _handled(node, request)


def _handled(node: Node, request: Request[Any]) -> Answer | Wait[Answer]:
    handler = SERVED[request.api_key].handler
    try:
        result: Answer | Wait[Answer] = handler.answer(node, request)
    except Refusal as refusal:
        return refused(request, refusal.code, refusal.message)
    except Exception:
        return unforeseen(request)
    return _guarded(request, result) if isinstance(result, GeneratorType) else result


def _guarded(request: Request[Any], steps: Generator[Any, Any, Answer]) -> Wait[Answer]:
    try:
        return (yield from steps)
    except Refusal as refusal:
        return refused(request, refusal.code, refusal.message)
    except Exception:
        return unforeseen(request)


def refused(request: Request[Any], code: int, message: str | None = None) -> Answer:
    """The API's own error answer, with `code` wherever an error can stand."""
    return SERVED[request.api_key].handler.refuse(request, code, message)


def unforeseen(request: Request[Any]) -> Answer:
    """What Kafka answers when a handler broke: UNKNOWN_SERVER_ERROR, and a traceback in the log."""
    log.exception("%r failed", request)
    return refused(request, error_codes.UNKNOWN_SERVER_ERROR)
