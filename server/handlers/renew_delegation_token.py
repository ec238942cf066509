"""RenewDelegationToken: extend the life of a delegation token (KIP-48).

A period that is not positive means `delegation.token.expiry.time.ms`, which is also the maximum.
`controller.token_requests` says who may send the request, `controller.delegation_tokens` who may
renew which token. Versions 1 and 2 differ only in their encoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

from ..controller.delegation_tokens import renew_token
from ..controller.token_requests import answer_with_expiry, check_token_request_allowed, expiry_in_refusal
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = RenewDelegationTokenResponse

admit = check_token_request_allowed


def answer(node: HandlerContext, request: Request[RenewDelegationTokenRequest]) -> Response | Wait[Response]:
    return answer_with_expiry(node, request, renew_token, request.body.renew_period_ms, Response)


def refuse(request: Request[RenewDelegationTokenRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code, expiry_timestamp_ms=expiry_in_refusal(code))
