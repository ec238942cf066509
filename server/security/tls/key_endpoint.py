"""The TLS of an https URL with the keys of signed tokens: by the `ssl.` options of the login of
OAUTHBEARER, such as `ssl.truststore.location` in its `sasl.jaas.config` (KIP-768).

Without them the certificates of the system are trusted.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from functools import lru_cache

from ...configs.broker import BROKER
from .contexts import client_context_of


class LoginTlsSettings:
    """The options of a login; those that are not given are Kafka's defaults."""

    def __init__(self, options: Iterable[tuple[str, str]]) -> None:
        self._options = dict(options)

    def text(self, setting: str) -> str | None:
        """A text, or None when there is none."""
        default = BROKER[setting].default
        return self._options.get(setting, None if default is None else str(default)) or None

    def names(self, setting: str) -> list[str]:
        """A list."""
        return [name.strip() for name in (self.text(setting) or "").split(",") if name.strip()]

    def format_of(self, store: str) -> str | None:
        """The format that the options say, in capitals."""
        return (self.text(f"ssl.{store}.type") or "JKS").upper()

    def shown(self, setting: str) -> str:
        """The option, and where it is."""
        return f"{setting} in the sasl.jaas.config of OAUTHBEARER"


@lru_cache(maxsize=8)
def context_of(url: str, options: tuple[tuple[str, str], ...]) -> ssl.SSLContext | None:
    """The context for this URL; None for one without TLS. UsageError for options that cannot be
    used."""
    return client_context_of(LoginTlsSettings(options)) if url.lower().startswith("https:") else None
