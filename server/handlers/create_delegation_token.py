"""CreateDelegationToken: create a token to authenticate with, also for another user (KIP-48).

`controller.token_requests` says who may request a token, `controller.delegation_tokens` what a
token is. With an authorizer, a token for another user (KIP-373) requires CREATE_TOKENS on that
user. An owner with a name and no type is UNKNOWN_SERVER_ERROR, because Kafka fails over it.
Versions 1 and 2 differ only in their encoding; from version 3 on the owner may differ from the
requester, and the response has both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

from ..controller.delegation_tokens import (
    KafkaPrincipal,
    NewTokenRequest,
    checked_token_settings,
    create_token,
    token_settings_of,
)
from ..controller.token_requests import NO_TIMESTAMP, check_token_request_allowed, requester_of
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait
from ..security.acls import USER
from ..security.authorizer import CREATE_TOKENS
from ..security.request_authorization import may

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = CreateDelegationTokenResponse

ANONYMOUS = KafkaPrincipal("User", "ANONYMOUS")
REQUESTER_FROM = 3
TIMES_OF_REFUSALS = {
    error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: NO_TIMESTAMP,
    error_codes.DELEGATION_TOKEN_AUTHORIZATION_FAILED: NO_TIMESTAMP,
    error_codes.DELEGATION_TOKEN_AUTH_DISABLED: 0,
    error_codes.UNSUPPORTED_VERSION: 0,
    error_codes.INVALID_PRINCIPAL_TYPE: 0,
}
"""The timestamps of an error response that has the owner; Kafka leaves the owner out of others."""


def admit(request: Request[CreateDelegationTokenRequest]) -> None:
    """Checks a request before a broker forwards it. Raises Refusal."""
    if request.body.owner_principal_name and request.body.owner_principal_type is None:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    check_token_request_allowed(request)


def answer(node: HandlerContext, request: Request[CreateDelegationTokenRequest]) -> Response | Wait[Response]:
    owner, requester = _owner(request), requester_of(request)
    if owner != requester and not may(node, request, (CREATE_TOKENS, USER, str(owner))):
        raise Refusal(error_codes.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
    terms = checked_token_settings(node.controller.draft, token_settings_of(node.settings))
    renewers = [KafkaPrincipal(renewer.principal_type, renewer.principal_name) for renewer in request.body.renewers]
    new_token = NewTokenRequest(owner, requester, renewers, request.body.max_lifetime_ms)
    token = create_token(node.controller.draft, terms, new_token, node.controller.new_id, node.now)
    times = token.issue_timestamp, token.expiration_timestamp, token.max_timestamp
    response = _response(request.version, error_codes.NONE, (owner, requester), times)
    response.token_id, response.hmac = token.token_id, terms.proof(token.token_id)
    return node.controller.write([token], response)


def _owner(request: Request[CreateDelegationTokenRequest]) -> KafkaPrincipal:
    kind, name = request.body.owner_principal_type, request.body.owner_principal_name
    return KafkaPrincipal(kind or "", name) if name else requester_of(request)


def _response(
    version: int, code: int, of: tuple[KafkaPrincipal, KafkaPrincipal], times: tuple[int, int, int]
) -> Response:
    owner, requester = of
    issued, expires, end = times
    response = Response(
        error_code=code,
        principal_type=owner.type,
        principal_name=owner.name,
        issue_timestamp_ms=issued,
        expiry_timestamp_ms=expires,
        max_timestamp_ms=end,
    )
    if version >= REQUESTER_FROM:
        response.token_requester_principal_type, response.token_requester_principal_name = requester
    return response


def refuse(request: Request[CreateDelegationTokenRequest], code: int, message: str | None) -> Response:
    time = TIMES_OF_REFUSALS.get(code)
    if time is None:
        return _response(request.version, code, (ANONYMOUS, ANONYMOUS), (NO_TIMESTAMP,) * 3)
    return _response(request.version, code, (_owner(request), requester_of(request)), (time,) * 3)
