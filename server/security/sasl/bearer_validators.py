"""The validators of OAUTHBEARER tokens, by the name of Kafka's class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast
from urllib.parse import urlsplit

from kafkadouble.wire.errors import UsageError

from ...configs.layers import Layers
from ...configs.listener_settings import of_mechanism
from .oauth_bearer import CheckedByProgram, TokenCheck, UnsecuredValidator, Validator

if TYPE_CHECKING:
    from .json_web_keys import KeySource
    from .remote_keys import KeyEndpoint

UNSECURED = "OAuthBearerUnsecuredValidatorCallbackHandler"
"""Kafka's default: any client can make such a token."""


SIGNED = "OAuthBearerValidatorCallbackHandler"
"""Checks tokens that are signed."""

OF_PROGRAM = "TokenCheck"
"""A function of the program in place of a class."""

PACKAGE = "org.apache.kafka.common.security.oauthbearer"
OLD_PACKAGE = f"{PACKAGE}.secured"
"""Kafka 4.4 has no class there any more."""


REFRESH = "sasl.oauthbearer.jwks.endpoint.refresh.ms"
BACKOFF = "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms"
BACKOFF_MAX = "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms"


class ValidatorHost(Protocol):
    """The interface of the node that validators use."""

    @property
    def token_check(self) -> TokenCheck | None:
        """The function of the program that checks tokens, if it gives one."""
        ...

    def now(self) -> int:
        """The time (ms)."""
        ...

    def remote_keys(self, endpoint: KeyEndpoint) -> KeySource:
        """The keys at an http or https URL."""
        ...


def validator_of(
    class_name: str, settings: Layers, listener: str, options: Mapping[str, str], host: ValidatorHost
) -> Validator:
    """The validator that a class stands for. UsageError for an unknown one."""
    package, _, name = class_name.rpartition(".")
    if name in ("", UNSECURED):
        return UnsecuredValidator(options, host.now)
    if class_name == OF_PROGRAM and host.token_check is not None:
        return CheckedByProgram(host.token_check)
    if name == SIGNED and package != OLD_PACKAGE:
        from .signed_tokens import SignedValidator, token_rules

        value = partial(of_mechanism, settings, listener, "OAUTHBEARER")
        return SignedValidator(token_rules(value, partial(_keys_at, value, options, host)), host.now)
    raise UsageError(
        f"sasl.server.callback.handler.class: {class_name} is not known; {UNSECURED} and {SIGNED} of {PACKAGE} are"
    )


def _keys_at(value: Callable[[str], object], options: Mapping[str, str], host: ValidatorHost, url: str) -> KeySource:
    """The keys at a URL. UsageError."""
    from ..tls.key_endpoint import context_of
    from .json_web_keys import KeysOfFile
    from .remote_keys import KeyEndpoint
    from .signed_tokens import URL

    scheme = urlsplit(url).scheme.lower()
    if scheme == "file":
        return KeysOfFile(url, URL)
    if scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise UsageError(f"{URL}: {url[:200]} is no http, https or file URL")
    refresh_ms, backoff_ms, backoff_max_ms = (cast(int, value(name)) for name in (REFRESH, BACKOFF, BACKOFF_MAX))
    if refresh_ms <= 0:
        raise UsageError(f"{REFRESH} must be positive")
    of_tls = tuple(sorted((name, text) for name, text in options.items() if name.startswith("ssl.")))
    endpoint = KeyEndpoint(url, refresh_ms, backoff_ms, backoff_max_ms, of_tls)
    context_of(endpoint.url, endpoint.ssl_options)
    return host.remote_keys(endpoint)
