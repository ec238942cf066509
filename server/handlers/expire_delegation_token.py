"""ExpireDelegationToken: change the expiry of a delegation token, or delete it (KIP-48).

A negative period deletes the token at once, even an expired one. `controller.token_requests` says
who may send the request, `controller.delegation_tokens` who may expire which token. Versions 1 and
2 differ only in their encoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)

from ..controller.delegation_tokens import expire_token
from ..controller.token_requests import answer_with_expiry, check_token_request_allowed, expiry_in_refusal
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = ExpireDelegationTokenResponse

admit = check_token_request_allowed


def answer(node: HandlerContext, request: Request[ExpireDelegationTokenRequest]) -> Response | Wait[Response]:
    return answer_with_expiry(node, request, expire_token, request.body.expiry_time_period_ms, Response)


def refuse(request: Request[ExpireDelegationTokenRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code, expiry_timestamp_ms=expiry_in_refusal(code))
