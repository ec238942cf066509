"""The login on a connection: SaslHandshake, then SaslAuthenticate until the exchange of the
mechanism ends (KIP-43, KIP-152, KIP-368; Kafka's SaslClientAuthenticator)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest

from ..security.sasl.exchange import ClientExchange
from .steps import ConnectionStep, Steps

HANDSHAKE_VERSION, AUTHENTICATE_VERSION = 1, 2

RENEWED_AFTER = 0.85
"""The part of a session's lifetime after which a new connection is made; Kafka's clients and nodes
authenticate again then at the earliest."""


class MechanismRefused(Exception):
    """The peer does not take the mechanism. `offered` are those that it takes."""

    def __init__(self, code: int, offered: Sequence[str]) -> None:
        super().__init__(code, offered)
        self.code, self.offered = code, offered


class CredentialsRefused(Exception):
    """The peer refuses the user. `message` is its text, if it gives one."""

    def __init__(self, code: int, message: str | None) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


def sasl_login(mechanism: str, begin: Callable[[], ClientExchange]) -> Steps[float | None]:
    """Logs in; returns after how many seconds the connection is to be replaced, None for never.
    `begin` begins the exchange. Raises MechanismRefused, CredentialsRefused, and ServerNotTrusted
    of the exchange."""
    shaken = yield ConnectionStep(SaslHandshakeRequest(mechanism=mechanism), HANDSHAKE_VERSION, HANDSHAKE_VERSION)
    if shaken.error_code:
        raise MechanismRefused(shaken.error_code, shaken.mechanisms)
    lifetime_ms = 0
    exchange = begin()
    try:
        message = next(exchange)
        while True:
            answer = yield ConnectionStep(SaslAuthenticateRequest(auth_bytes=message), AUTHENTICATE_VERSION)
            if answer.error_code:
                raise CredentialsRefused(answer.error_code, answer.error_message)
            lifetime_ms = answer.session_lifetime_ms
            message = exchange.send(bytes(answer.auth_bytes))
    except StopIteration:
        return RENEWED_AFTER * lifetime_ms / 1000 if lifetime_ms > 0 else None
