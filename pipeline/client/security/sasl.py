"""SASL: authenticates the client before other requests, by SaslHandshake and SaslAuthenticate
(KIP-43, KIP-152, KIP-368).

The mechanisms are those of `server/security/sasl/`. A refusal is NotAuthenticated, and is not
retried.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafkadouble.messages.message import Message
from kafkadouble.server.security.sasl import oauth_bearer, plain, scram
from kafkadouble.server.security.sasl.exchange import ClientExchange, ServerNotTrusted
from kafkadouble.wire.errors import UsageError

from ..errors import NotAuthenticated
from ..settings import ClientSettings
from . import credentials

RENEWED_AFTER = 0.85
"""The part of the session lifetime after which a new connection is made; Kafka's clients use it as
the lower bound."""


def _plain(settings: ClientSettings) -> ClientExchange:
    return plain.client_exchange(*credentials.user(settings))


def _scram(settings: ClientSettings) -> ClientExchange:
    return scram.client_exchange(settings.text("sasl.mechanism") or "", *credentials.user(settings))


def _bearer(settings: ClientSettings) -> ClientExchange:
    return oauth_bearer.client_exchange(credentials.token(settings))


MECHANISMS: dict[str, Callable[[ClientSettings], ClientExchange]] = {
    "PLAIN": _plain,
    "SCRAM-SHA-256": _scram,
    "SCRAM-SHA-512": _scram,
    "OAUTHBEARER": _bearer,
}


class SaslBroker(Protocol):
    """The broker that a connection leads to, as its authentication sees it."""

    @property
    def endpoint(self) -> object: ...

    def version(self, api_key: int, lowest: int = 0) -> int: ...

    def ask(self, request: Message, version: int) -> Message: ...


def authenticate(connection: SaslBroker, settings: ClientSettings) -> float | None:
    """Authenticates. Returns the time for the next authentication, by the monotonic clock. Raises
    NotAuthenticated, UsageError."""
    mechanism = settings.text("sasl.mechanism") or ""
    if mechanism not in MECHANISMS:
        raise UsageError(f"sasl.mechanism {mechanism!r} is not there; give one of {', '.join(MECHANISMS)}")
    exchange = MECHANISMS[mechanism](settings)
    message = next(exchange)
    _shake_hands(connection, mechanism)
    lifetime = 0
    try:
        while True:
            answer = _sent(connection, mechanism, message)
            lifetime = answer.session_lifetime_ms
            message = exchange.send(bytes(answer.auth_bytes))
    except StopIteration:
        return time.monotonic() + RENEWED_AFTER * lifetime / 1000 if lifetime > 0 else None
    except ServerNotTrusted as error:
        raise NotAuthenticated(f"broker {connection.endpoint} fails in {mechanism}: {error}") from None


def _shake_hands(connection: SaslBroker, mechanism: str) -> None:
    answer = connection.ask(
        SaslHandshakeRequest(mechanism=mechanism), connection.version(ApiKeys.SASL_HANDSHAKE, lowest=1)
    )
    assert isinstance(answer, SaslHandshakeResponse)
    if answer.error_code:
        offered = ", ".join(answer.mechanisms) or "none"
        raise NotAuthenticated(
            f"broker {connection.endpoint} takes no {mechanism} ({error_codes.name(answer.error_code)}): "
            f"set sasl.mechanism to one that it offers, of {offered}"
        )


def _sent(connection: SaslBroker, mechanism: str, message: bytes) -> SaslAuthenticateResponse:
    answer = connection.ask(SaslAuthenticateRequest(auth_bytes=message), connection.version(ApiKeys.SASL_AUTHENTICATE))
    assert isinstance(answer, SaslAuthenticateResponse)
    if answer.error_code:
        reason = answer.error_message or error_codes.meaning(answer.error_code)
        raise NotAuthenticated(
            f"broker {connection.endpoint} refuses this user by {mechanism}: {error_codes.name(answer.error_code)}: {reason}"
        )
    return answer
