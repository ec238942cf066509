"""TLS and SASL towards the target of a replay, by Kafka's settings of clients.

Every connection authenticates as the one user of the settings. What the recorded clients sent to
log in is left out: a recording has no passwords.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest
from kafkadouble.messages.message import Message
from kafkadouble.pipeline.client.security.sasl import MECHANISMS
from kafkadouble.pipeline.client.security.tls import context
from kafkadouble.pipeline.client.settings import ClientSettings
from kafkadouble.server.requests.listener_spec import WITH_SASL, WITH_TLS
from kafkadouble.server.security.sasl.exchange import ServerNotTrusted
from kafkadouble.wire.errors import UsageError

LOGIN_APIS = (ApiKeys.SASL_HANDSHAKE, ApiKeys.SASL_AUTHENTICATE)

HANDSHAKE_VERSION = AUTHENTICATE_VERSION = 1
"""Versions that every Kafka since 2.0 serves."""

Ask = Callable[[Message, int], Awaitable[Message]]
"""Sends a request in a version, and returns its answer."""


class LoginRefused(Exception):
    """The target refuses the user or the mechanism, or it is not the server that knows the
    password."""


class TargetSecurity(NamedTuple):
    """`tls` is None without TLS, `login` without SASL."""

    tls: ssl.SSLContext | None = None
    login: ClientSettings | None = None

    @classmethod
    def of(cls, target: str, given: Mapping[str, object]) -> TargetSecurity:
        """The security that Kafka's settings of a client describe. Raises UsageError."""
        settings = ClientSettings({**given, "bootstrap.servers": target})
        protocol = settings.text("security.protocol") or ""
        if protocol in WITH_SASL:
            _first_message(settings)
        return cls(
            context(settings) if protocol in WITH_TLS else None,
            settings if protocol in WITH_SASL else None,
        )

    async def log_in(self, ask: Ask) -> None:
        """Authenticates on a new connection. Raises LoginRefused."""
        if self.login is None:
            return
        mechanism = self.login.text("sasl.mechanism") or ""
        exchange = MECHANISMS[mechanism](self.login)
        message = next(exchange)
        shaken: object = await ask(SaslHandshakeRequest(mechanism=mechanism), HANDSHAKE_VERSION)
        if code := getattr(shaken, "error_code", 0):
            offered = ", ".join(getattr(shaken, "mechanisms", ())) or "none"
            raise LoginRefused(f"takes no {mechanism} ({error_codes.name(code)}), it offers {offered}")
        try:
            while True:
                answer: object = await ask(SaslAuthenticateRequest(auth_bytes=message), AUTHENTICATE_VERSION)
                if code := getattr(answer, "error_code", 0):
                    why = getattr(answer, "error_message", None) or error_codes.meaning(code)
                    raise LoginRefused(f"refuses this user by {mechanism}: {error_codes.name(code)}: {why}")
                message = exchange.send(bytes(getattr(answer, "auth_bytes", b"")))
        except StopIteration:
            return
        except ServerNotTrusted as problem:
            raise LoginRefused(f"fails in {mechanism}: {problem}") from None


def _first_message(settings: ClientSettings) -> None:
    """Raises UsageError for a mechanism that is not there, or without a user."""
    mechanism = settings.text("sasl.mechanism") or ""
    if mechanism not in MECHANISMS:
        raise UsageError(f"sasl.mechanism {mechanism!r} is not there; give one of {', '.join(MECHANISMS)}")
    next(MECHANISMS[mechanism](settings))


PLAINTEXT = TargetSecurity()
