"""The SASL mechanisms: one row each, with both halves of the exchange.

`modules` are the login modules of `sasl.jaas.config`, by the last part of their names. A mechanism
begins its exchange with the options of such a module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError

from . import oauth_bearer, plain, scram
from .credential_store import CredentialStore
from .exchange import ClientExchange, ServerExchange

PLAIN, OAUTHBEARER = "PLAIN", "OAUTHBEARER"
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")

TOKEN_OPTION = "tokenauth"
UNSECURED = "unsecuredLoginStringClaim_"
LIFETIME_S = 3600

Options = Mapping[str, str]


class ServerConfig(NamedTuple):
    """The input of the server's half of a mechanism: the options of its login module, the
    credentials of the cluster, and what checks bearer tokens."""

    options: Options
    store: CredentialStore
    validator: oauth_bearer.Validator | None = None

    def __repr__(self) -> str:
        return "the configuration of a mechanism"


class SaslMechanism(NamedTuple):
    """One mechanism. `server` returns what begins an exchange; `client` begins one with the options
    of this side, at a time in seconds."""

    modules: tuple[str, ...]
    server: Callable[[ServerConfig], Callable[[], ServerExchange]]
    client: Callable[[Options, float], ClientExchange]


def _plain_server(config: ServerConfig) -> Callable[[], ServerExchange]:
    return partial(plain.server_exchange, plain.users_of(config.options))


def _plain_client(options: Options, now_s: float) -> ClientExchange:
    return plain.client_exchange(*user_of(options))


def _scram_server(mechanism: str) -> Callable[[ServerConfig], Callable[[], ServerExchange]]:
    return lambda config: partial(scram.server_exchange, mechanism, config.store)


def _scram_client(mechanism: str, options: Options, now_s: float) -> ClientExchange:
    by_token = options.get(TOKEN_OPTION, "").lower() == "true"
    return scram.client_exchange(mechanism, *user_of(options), by_token=by_token)


def _bearer_server(config: ServerConfig) -> Callable[[], ServerExchange]:
    validator = config.validator or oauth_bearer.UnsecuredValidator(config.options, config.store.now)
    return partial(oauth_bearer.server_exchange, validator)


def _bearer_client(options: Options, now_s: float) -> ClientExchange:
    return oauth_bearer.client_exchange(unsecured_token(options, now_s))


MECHANISMS: Mapping[str, SaslMechanism] = {
    PLAIN: SaslMechanism(("PlainLoginModule",), _plain_server, _plain_client),
    **{name: SaslMechanism(("ScramLoginModule",), _scram_server(name), partial(_scram_client, name)) for name in SCRAM},
    OAUTHBEARER: SaslMechanism(("OAuthBearerLoginModule",), _bearer_server, _bearer_client),
}
"""By name. GSSAPI is not among them: it needs Kerberos."""


def mechanism_named(name: str, setting: str) -> SaslMechanism:
    """The mechanism. UsageError names the setting that has an unknown one."""
    mechanism = MECHANISMS.get(name)
    if mechanism is None:
        why = "needs Kerberos, which is not served" if name == "GSSAPI" else "is not known"
        raise UsageError(f"{setting}: {name} {why}; give of {', '.join(MECHANISMS)}")
    return mechanism


def user_of(options: Options) -> tuple[str, str]:
    """The name and the password of this side."""
    name, password = options.get("username"), options.get("password")
    if not name or password is None:
        raise UsageError("sasl.jaas.config has no username and password")
    return name, password


def unsecured_token(options: Options, now_s: float) -> str:
    """The token that options such as `unsecuredLoginStringClaim_sub` make. UsageError without a
    principal."""
    claims = {name.removeprefix(UNSECURED): text for name, text in options.items() if name.startswith(UNSECURED)}
    if "sub" not in claims:
        raise UsageError(f"OAUTHBEARER needs a token: give sasl.jaas.config with {UNSECURED}sub")
    return oauth_bearer.unsecured_token(claims, int(now_s), LIFETIME_S)
