"""The settings of clients of a Kafka that runs elsewhere, from those that a user gives in a file of
properties."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkadouble.arguments.parameters import check, check_given
from kafkadouble.clients.client_config import client_config
from kafkadouble.clients.client_security import ClientSecurity, SaslLogin
from kafkadouble.common.errors import UsageError
from kafkadouble.pipeline.client.security import credentials
from kafkadouble.pipeline.client.settings import ClientSettings
from kafkadouble.server.configs.properties import parse_properties
from kafkadouble.server.requests.listener_spec import WITH_SASL
from kafkadouble.server.security.sasl.mechanisms import OAUTHBEARER

if TYPE_CHECKING:
    from kafkadouble.common.literals import ClientLibrary

AUTHORITY, KEY = ("ssl.truststore.location", "ssl.ca.location"), "ssl.keystore.location"


def client_properties(file: str | Path) -> dict[str, object]:
    """The settings in a file of client properties. Raises UsageError."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as problem:
        raise UsageError(f"the client properties in {file} cannot be read: {problem}") from None
    return {name: value for _, name, value in parse_properties(text, str(file))}


def given_client_config(
    bootstrap: str,
    given: Mapping[str, object],
    user: str | None,
    client: ClientLibrary,
    mechanism: str | None,
    contents: bool,
    listener: str | None,
) -> dict[str, Any]:
    """The given settings, in the form of a library."""
    check(client=client, contents=contents)
    check_given(user=user, mechanism=mechanism, listener=listener)
    settings = ClientSettings(given)
    protocol = settings.text("security.protocol") or ""
    login = _login(settings) if protocol in WITH_SASL else None
    known = {"user": login and login.name, "mechanism": login and login.mechanism, "listener": None}
    for name, value in {"user": user, "mechanism": mechanism, "listener": listener}.items():
        if value not in (None, known[name]):
            raise UsageError(f"{name} is {value!r}: the settings that were given for this Kafka have {known[name]!r}")
    authority = next((text for name in AUTHORITY if (text := settings.text(name))), "")
    security = ClientSecurity("", protocol, bootstrap, authority, settings.text(KEY) or "", login, contents)
    return client_config(security, client)


def _login(settings: ClientSettings) -> SaslLogin:
    mechanism = settings.text("sasl.mechanism") or ""
    if mechanism == OAUTHBEARER:
        return SaslLogin(mechanism, settings.text("sasl.username") or "", credentials.token(settings))
    return SaslLogin(mechanism, *credentials.user(settings))
