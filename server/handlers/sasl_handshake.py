"""SaslHandshake: the client names the mechanism by which it authenticates (KIP-43).

- After version 0 the client sends bare messages of the mechanism, after version 1 SaslAuthenticate
  (KIP-152).
- A mechanism that is not enabled is UNSUPPORTED_SASL_MECHANISM, with the enabled ones in no
  particular order; the connection then ends. A client that was authenticated before gets no answer.
- On a listener without SASL, and for an authenticated client whose session does not end, it is
  ILLEGAL_SASL_STATE, and the connection goes on.
- A fault rule that fails it with another error ends the connection.
- A client whose session ends authenticates again in this way (KIP-368), at most once a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafkadouble.wire.client_log import ClientLog

from ..requests.answer import DISCONNECT, Answer
from ..requests.request import Request
from ..requests.waiting import Wait
from ..security.sasl.failure_delay import delayed

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

log = ClientLog("kafkadouble.server.security")

NO_SASL = "%r sends SaslHandshake, and this listener has no SASL (security.protocol=PLAINTEXT or SSL in the client?)"


def answer(node: HandlerContext, request: Request[SaslHandshakeRequest]) -> Answer | Wait[Answer]:
    authenticator = request.peer.authenticator
    if authenticator is None:
        log.warning(NO_SASL, request.peer)
        return SaslHandshakeResponse(error_code=error_codes.ILLEGAL_SASL_STATE)
    found = authenticator.on_handshake(request.body.mechanism, request.version, node.now)
    if found is None:
        return DISCONNECT
    response = SaslHandshakeResponse(error_code=found.error_code, mechanisms=[*found.mechanisms])
    return delayed(node, lambda: response) if authenticator.has_failed else response


def refuse(request: Request[SaslHandshakeRequest], code: int, message: str | None) -> SaslHandshakeResponse:
    authenticator = request.peer.authenticator
    if authenticator is None or code == error_codes.ILLEGAL_SASL_STATE:
        return SaslHandshakeResponse(error_code=code)
    authenticator.fail_by_rule(message)
    return SaslHandshakeResponse(error_code=code, mechanisms=[*authenticator.enabled])
