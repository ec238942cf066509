"""TLS and SASL towards the target of a replay, by Kafka's settings of clients.

Every connection authenticates as the one user of the settings. The authentication requests of the
recorded clients are left out: a recording has no passwords.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.pipeline.client.security.sasl import begun
from kafkadouble.pipeline.client.security.tls import context
from kafkadouble.pipeline.client.settings import ClientSettings
from kafkadouble.server.client.sasl_login import CredentialsRefused, MechanismRefused, sasl_login
from kafkadouble.server.client.steps import Steps
from kafkadouble.server.requests.listener_spec import WITH_SASL, WITH_TLS
from kafkadouble.server.security.sasl.exchange import ServerNotTrusted

LOGIN_APIS = (ApiKeys.SASL_HANDSHAKE, ApiKeys.SASL_AUTHENTICATE)

LOGIN_VERSION = 1
"""The version of both that every Kafka since 2.0 serves."""


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
            begun(settings.text("sasl.mechanism") or "", settings)
        return cls(
            context(settings) if protocol in WITH_TLS else None,
            settings if protocol in WITH_SASL else None,
        )

    def login_steps(self) -> Steps[None]:
        """The steps on a new connection. Raises LoginRefused."""
        if self.login is None:
            return
        mechanism = self.login.text("sasl.mechanism") or ""
        exchange = begun(mechanism, self.login)
        try:
            yield from sasl_login(mechanism, lambda: exchange)
        except MechanismRefused as refused:
            offered = ", ".join(refused.offered) or "none"
            raise LoginRefused(
                f"takes no {mechanism} ({error_codes.name(refused.code)}), it offers {offered}"
            ) from None
        except CredentialsRefused as refused:
            why = refused.message or error_codes.meaning(refused.code)
            raise LoginRefused(f"refuses this user by {mechanism}: {error_codes.name(refused.code)}: {why}") from None
        except ServerNotTrusted as problem:
            raise LoginRefused(f"fails in {mechanism}: {problem}") from None


PLAINTEXT = TargetSecurity()
