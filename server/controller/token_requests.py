"""Who may ask for delegation tokens (KIP-48), and what becomes of who wants another end for one.

Rules. Nobody may who came by a connection in PLAINTEXT, since a token is a password; nor he who proved himself by a token, lest one that is
stolen beget others. Listeners here are PLAINTEXT, those of brokers and those of controllers: so only he may for whom a broker speaks in an
Envelope, and that broker has seen to it how he came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kafkadouble.messages import error_codes

from ..metadata.controller_result import ControllerResult
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait
from .delegation_tokens import KafkaPrincipal, checked_token_settings, token_settings_of

if TYPE_CHECKING:
    from ..node import Node

R = TypeVar("R")

NO_TIMESTAMP = -1


def check_token_request_allowed(request: Request[Any]) -> None:
    """Refusal(DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)."""
    if not request.peer.may_ask_for_tokens:
        raise Refusal(error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


def requester_of(request: Request[Any]) -> KafkaPrincipal:
    kind, _, name = request.peer.principal.partition(":")
    return KafkaPrincipal(kind, name)


def answer_with_expiry(
    node: Node,
    request: Request[Any],
    decide: Callable[..., ControllerResult[int]],
    period: int,
    response: Callable[..., R],
) -> R | Wait[R]:
    """The token that is shown gets the end that `decide`, which is `renew` or `expire`, gives it; the answer tells it."""
    check_token_request_allowed(request)
    draft = node.controller.draft
    terms, proof = checked_token_settings(draft, token_settings_of(node.settings)), bytes(request.body.hmac)
    decision = decide(draft, terms, proof, request.peer.principal, period, node.now)
    [end] = decision.results
    return node.controller.write(decision.records, response(expiry_timestamp_ms=end))


def expiry_in_refusal(code: int) -> int:
    """What stands where the end would."""
    return NO_TIMESTAMP if code == error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED else 0
