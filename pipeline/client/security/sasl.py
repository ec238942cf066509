"""SASL: authenticates the client before other requests, by SaslHandshake and SaslAuthenticate
(KIP-43, KIP-152, KIP-368).

The mechanisms are those of `server/security/sasl/`. A refusal is NotAuthenticated, and is not
retried.
"""

from __future__ import annotations

from collections.abc import Callable

from kafkadouble.messages import error_codes
from kafkadouble.server.client.sasl_login import CredentialsRefused, MechanismRefused, sasl_login
from kafkadouble.server.client.steps import Steps
from kafkadouble.server.security.sasl import oauth_bearer, plain, scram
from kafkadouble.server.security.sasl.exchange import ClientExchange, ServerNotTrusted
from kafkadouble.wire.errors import UsageError

from ..errors import NotAuthenticated
from ..names import BrokerEndpoint
from ..settings import ClientSettings
from . import credentials


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


def login(endpoint: BrokerEndpoint, settings: ClientSettings) -> Steps[float | None]:
    """The steps of the login, and after how many seconds the connection is to be replaced. Raises
    NotAuthenticated, UsageError."""
    mechanism = settings.text("sasl.mechanism") or ""
    exchange = begun(mechanism, settings)
    try:
        return (yield from sasl_login(mechanism, lambda: exchange))
    except MechanismRefused as refused:
        offered = ", ".join(refused.offered) or "none"
        raise NotAuthenticated(
            f"broker {endpoint} takes no {mechanism} ({error_codes.name(refused.code)}): "
            f"set sasl.mechanism to one that it offers, of {offered}"
        ) from None
    except CredentialsRefused as refused:
        reason = refused.message or error_codes.meaning(refused.code)
        raise NotAuthenticated(
            f"broker {endpoint} refuses this user by {mechanism}: {error_codes.name(refused.code)}: {reason}"
        ) from None
    except ServerNotTrusted as error:
        raise NotAuthenticated(f"broker {endpoint} fails in {mechanism}: {error}") from None


def begun(mechanism: str, settings: ClientSettings) -> ClientExchange:
    """The exchange with the credentials of the settings. Raises UsageError for a mechanism that is
    not there, or without a user."""
    if mechanism not in MECHANISMS:
        raise UsageError(f"sasl.mechanism {mechanism!r} is not supported; use one of {', '.join(MECHANISMS)}")
    return MECHANISMS[mechanism](settings)
