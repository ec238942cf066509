"""SaslAuthenticate: a message of the mechanism that SaslHandshake named, and the server's response
(KIP-152).

- Version 1 says how long the session lasts (KIP-368); version 2 has another encoding.
- A failure is SASL_AUTHENTICATION_FAILED; the connection then ends. The error message is the same
  for an unknown user and a wrong proof in SCRAM.
- A fault rule that fails it ends the connection, too.
- It is ILLEGAL_SASL_STATE for a client that is authenticated, and on a listener without SASL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse

from ..requests.request import Request
from ..requests.waiting import Wait
from ..security.sasl.failure_delay import delayed
from ..security.sasl.server_authenticator import ILLEGAL

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def answer(
    node: HandlerContext, request: Request[SaslAuthenticateRequest]
) -> SaslAuthenticateResponse | Wait[SaslAuthenticateResponse]:
    authenticator = request.peer.authenticator
    if authenticator is None:
        return refuse(request, error_codes.ILLEGAL_SASL_STATE, ILLEGAL)
    found = authenticator.on_token(bytes(request.body.auth_bytes), node.now)
    response = SaslAuthenticateResponse(
        error_code=found.error_code,
        error_message=found.error_message,
        auth_bytes=found.response,
        session_lifetime_ms=found.lifetime_ms,
    )
    return delayed(node, lambda: response) if authenticator.has_failed else response


def refuse(request: Request[SaslAuthenticateRequest], code: int, message: str | None) -> SaslAuthenticateResponse:
    authenticator = request.peer.authenticator
    error_message = message if authenticator is None else authenticator.fail_by_rule(message)
    return SaslAuthenticateResponse(error_code=code, error_message=error_message)
