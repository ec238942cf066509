"""The checks and the answers that the delegation token APIs share (KIP-48).

Refused on PLAINTEXT connections, because a token is a password, and for sessions that authenticated
with a delegation token: a stolen token must not create new ones. A request that a broker forwards
in an Envelope is accepted: that broker has checked how its client authenticated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kafkadouble.messages import error_codes

from ..requests.request import Refusal, Request
from ..requests.waiting import Wait
from .controller_result import ControllerResult
from .delegation_tokens import KafkaPrincipal, checked_token_settings, token_settings_of

if TYPE_CHECKING:
    from .decision_host import DecisionHost

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
    node: DecisionHost,
    request: Request[Any],
    decide: Callable[..., ControllerResult[int]],
    period: int,
    response: Callable[..., R],
) -> R | Wait[R]:
    """Gives the token a new expiry time by `decide`, which is `renew_token` or `expire_token`, and
    answers with it.
    """
    draft = node.controller.draft
    terms, proof = checked_token_settings(draft, token_settings_of(node.settings)), bytes(request.body.hmac)
    decision = decide(draft, terms, proof, request.peer.principal, period, node.now)
    [end] = decision.results
    return node.controller.write(decision.records, response(expiry_timestamp_ms=end))


def expiry_in_refusal(code: int) -> int:
    """The expiry time in an error answer."""
    return NO_TIMESTAMP if code == error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED else 0
