"""RenewDelegationToken: another while to live (KIP-48).

A period that is not positive is `delegation.token.expiry.time.ms`, which is also the most. Who may ask stands in
`token_requests.py`, and who may do it to which token in `metadata/delegation_tokens.py`. Versions 1 and 2 differ only in their encoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

from ..metadata.delegation_tokens import offered, renew, terms_of
from ..request import Request
from ..token_requests import check_peer
from ..waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

Response = RenewDelegationTokenResponse

NEVER = -1

admit = check_peer


def answer(node: Node, request: Request[RenewDelegationTokenRequest]) -> Response | Wait[Response]:
    admit(request)
    draft, body = node.controller.draft, request.body
    terms = offered(draft, terms_of(node.settings))
    decision = renew(draft, terms, bytes(body.hmac), request.peer.principal, body.renew_period_ms, node.now)
    [end] = decision.results
    return node.controller.write(decision.records, Response(expiry_timestamp_ms=end))


def refuse(request: Request[RenewDelegationTokenRequest], code: int, message: str | None) -> Response:
    refused = code == error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    return Response(error_code=code, expiry_timestamp_ms=NEVER if refused else 0)
