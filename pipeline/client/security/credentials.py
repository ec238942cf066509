"""Reads the credentials of the client from Kafka's settings: a user and a password, or a token."""

from __future__ import annotations

import time
from urllib.parse import urlsplit
from urllib.request import url2pathname

from kafkadouble.server.security.sasl.jaas import Login, parse
from kafkadouble.server.security.sasl.mechanisms import LIFETIME_S, UNSECURED
from kafkadouble.server.security.sasl.oauth_bearer import unsecured_token
from kafkadouble.wire.errors import UsageError

from ..settings import ClientSettings

USER_MODULES = ("PlainLoginModule", "ScramLoginModule")


def user(settings: ClientSettings) -> tuple[str, str]:
    """A name and a password. Raises UsageError when they are missing."""
    login = _login(settings)
    if login is not None and login.module not in USER_MODULES:
        raise UsageError(
            f"sasl.jaas.config: {login.module} has no name and password; {' and '.join(USER_MODULES)} have"
        )
    options = login.options if login else {}
    name = options.get("username") or settings.text("sasl.username")
    password = options.get("password") or settings.text("sasl.password")
    if not name or password is None:
        raise UsageError(
            "sasl.mechanism needs a user: give sasl.jaas.config with username and password, or sasl.username and sasl.password"
        )
    return name, password


def token(settings: ClientSettings) -> str:
    """A bearer token: from a file, or the unsecured one that Kafka's own login module makes for
    tests. Raises UsageError when it is missing."""
    url = settings.text("sasl.oauthbearer.token.endpoint.url")
    if url:
        return _from_file(url)
    login = _login(settings)
    claims = {} if login is None else _claims(login)
    if "sub" not in claims:
        raise UsageError(
            "OAUTHBEARER needs a token: give sasl.oauthbearer.token.endpoint.url with a file: URL of one, "
            f"or sasl.jaas.config with {UNSECURED}sub"
        )
    return unsecured_token(claims, int(time.time()), LIFETIME_S)


def _login(settings: ClientSettings) -> Login | None:
    text = settings.text("sasl.jaas.config")
    return parse(text) if text else None


def _from_file(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "file":
        raise UsageError(
            "sasl.oauthbearer.token.endpoint.url: only file: URLs are read; fetch the token and write it to a file"
        )
    try:
        with open(url2pathname(parts.path), encoding="ascii") as file:
            return file.read().strip()
    except (OSError, UnicodeError) as error:
        raise UsageError(f"sasl.oauthbearer.token.endpoint.url: {url} cannot be read: {error}") from None


def _claims(login: Login) -> dict[str, str]:
    return {name.removeprefix(UNSECURED): value for name, value in login.options.items() if name.startswith(UNSECURED)}
