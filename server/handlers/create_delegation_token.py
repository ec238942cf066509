"""CreateDelegationToken: something to log in with instead of a password, for a while (KIP-48); for somebody else, too (KIP-373).

Who may ask stands in `token_requests.py`, and what a token is in `metadata/delegation_tokens.py`. For somebody else it takes the right
CREATE_TOKENS on that user, where there is an authorizer. An owner with a name and no type breaks Kafka: UNKNOWN_SERVER_ERROR. Version 1 is
version 2 in an older encoding; from 3 on the owner may be another than the requester, and both are told.
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
from ..security.authorizer import CREATE_TOKENS
from ..security.request_authorization import USER, may

if TYPE_CHECKING:
    from ..node import Node

Response = CreateDelegationTokenResponse

NOBODY = KafkaPrincipal("User", "ANONYMOUS")
TELLS_REQUESTER = 3
TIMES_OF_REFUSALS = {
    error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: NO_TIMESTAMP,
    error_codes.DELEGATION_TOKEN_AUTHORIZATION_FAILED: NO_TIMESTAMP,
    error_codes.DELEGATION_TOKEN_AUTH_DISABLED: 0,
    error_codes.UNSUPPORTED_VERSION: 0,
    error_codes.INVALID_PRINCIPAL_TYPE: 0,
}
"""What stands where times would, in refusals that tell whose token was wanted; of others Kafka says that nobody wanted it."""


def admit(request: Request[CreateDelegationTokenRequest]) -> None:
    """What a broker looks at before it hands a request on. Refusal."""
    if request.body.owner_principal_name and request.body.owner_principal_type is None:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    check_token_request_allowed(request)


def answer(node: Node, request: Request[CreateDelegationTokenRequest]) -> Response | Wait[Response]:
    admit(request)
    owner, requester = _owner(request), requester_of(request)
    if owner != requester and not may(node, request, (CREATE_TOKENS, USER, str(owner))):
        raise Refusal(error_codes.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
    terms = checked_token_settings(node.controller.draft, token_settings_of(node.settings))
    renewers = [KafkaPrincipal(each.principal_type, each.principal_name) for each in request.body.renewers]
    wanted = NewTokenRequest(owner, requester, renewers, request.body.max_lifetime_ms)
    token = create_token(node.controller.draft, terms, wanted, node.controller.new_id, node.now)
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
    if version >= TELLS_REQUESTER:
        response.token_requester_principal_type, response.token_requester_principal_name = requester
    return response


def refuse(request: Request[CreateDelegationTokenRequest], code: int, message: str | None) -> Response:
    time = TIMES_OF_REFUSALS.get(code)
    if time is None:
        return _response(request.version, code, (NOBODY, NOBODY), (NO_TIMESTAMP,) * 3)
    return _response(request.version, code, (_owner(request), requester_of(request)), (time,) * 3)
