"""Leads a request to its answer: applies quotas and the fault rules, calls the handler, and turns
failures into answers.

Every request takes this way. If a handler raises what it should not, the answer is
UNKNOWN_SERVER_ERROR, as in Kafka, and the traceback is logged; the node goes on.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog

from .log.files.errors import DiskFailure
from .quotas.request_throttle import RequestThrottle
from .requests.answer import Answer
from .requests.aside_codec import WIDE, aside_if
from .requests.origin import is_from_node
from .requests.request import Refusal, Request
from .requests.waiting import Wait

if TYPE_CHECKING:
    from .node import Node

log = ClientLog("kafkadouble.server.dispatch")


def answer(node: Node, request: Request[Any], *, is_forwarded: bool = False) -> Answer | Wait[Answer]:
    """Returns the answer, or a generator that waits and then returns it. Quotas and fault rules are
    applied. `is_forwarded`: another node forwards the request of a client, which quotas apply
    to."""
    if node.quotas.is_on and (is_forwarded or not is_from_node(request)):
        request.throttle = throttle = RequestThrottle(node.quotas, request)
        result = throttle.run(_under_rules, node, request)
        if isinstance(result, GeneratorType):
            return throttle.steps(result, lambda: node.now)
        return throttle.throttled(result, node.now)
    return _under_rules(node, request)


def _under_rules(node: Node, request: Request[Any]) -> Answer | Wait[Answer]:
    """The answer as the rules of the fault plane have it."""
    if not node.faults.rules:
        return handled(node, request)
    try:
        result: Answer | Wait[Answer] = node.faults.around(request, handled, refused)
    except Exception:  # of a function of the application
        return unforeseen(request)
    return _guarded(request, result) if isinstance(result, GeneratorType) else result


def handled(node: Node, request: Request[Any]) -> Answer | Wait[Answer]:
    """The handler's answer, past the fault rules. The owner of a node sends its own requests
    here.

    The node that handles a request prechecks it: the request of a client, the request inside an
    Envelope, with the client's principal, and that of another node. A broker that forwards a
    request makes only the check of `admit`. Prechecks that are about rights pass for a link inside
    the process; another node needs the rights of its principal, as in Kafka.
    """
    if node.lifecycle is not None and (elsewhere := node.lifecycle.forward(request)) is not None:
        return _guarded(request, elsewhere)
    served = request.peer.apis[request.api_key]
    if node.former_members and (answer := node.former_members.answer(request)) is not None:
        return answer
    try:
        early: Answer = None if served.precheck is None else served.precheck(node, request)
        if early is not None:
            return early
        if node.authorizer is not None:
            from .security.request_authorization import authorized

            result: Answer | Wait[Answer] = authorized(node, request, served.handler.answer)
        else:
            result = served.handler.answer(node, request)
    except Refusal as refusal:
        if request.size > WIDE:
            return _refused(request, refusal)
        return refused(request, refusal.code, refusal.message)
    except DiskFailure:  # the node reports it
        return refused(request, error_codes.KAFKA_STORAGE_ERROR)
    except Exception:  # a defect of a handler fails one request
        return unforeseen(request)
    return _guarded(request, result) if isinstance(result, GeneratorType) else result


def _guarded(request: Request[Any], steps: Generator[Any, Any, Answer]) -> Wait[Answer]:
    try:
        return (yield from steps)
    except Refusal as refusal:
        return (yield from _refused(request, refusal))
    except DiskFailure:
        return refused(request, error_codes.KAFKA_STORAGE_ERROR)
    except Exception:  # a defect of a handler fails one request
        return unforeseen(request)


def _refused(request: Request[Any], refusal: Refusal) -> Wait[Answer]:
    """The answer to a request that a handler refused: it may have an error for each element."""
    return (yield from aside_if(request.size > WIDE, partial(refused, request, refusal.code, refusal.message)))


def refused(request: Request[Any], code: int, message: str | None = None) -> Answer:
    """The API's own error answer, with `code` wherever an error can stand."""
    answer: Answer = request.peer.apis[request.api_key].refuse(request, code, message)
    return answer


def unforeseen(request: Request[Any]) -> Answer:
    """Kafka's answer if a handler failed: UNKNOWN_SERVER_ERROR, and a traceback in the log."""
    log.exception("%r failed", request)
    return refused(request, error_codes.UNKNOWN_SERVER_ERROR)
