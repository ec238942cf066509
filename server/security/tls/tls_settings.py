"""The `ssl.` settings of one listener, or of one client, as the rest of the package reads them.

Rules. A setting with the prefix of the listener wins. An error names the setting as it was given,
and the listener; it never has the value of a password.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from ...configs.layers import Layers
from ...configs.listener_settings import name_of_listener, of_listener


class TlsSettings(Protocol):
    """The settings of one end of connections."""

    def text(self, setting: str, /) -> str | None:
        """A text, or None when there is none."""
        ...

    def names(self, setting: str, /) -> Sequence[str]:
        """A list."""
        ...

    def format_of(self, store: str, /) -> str | None:
        """What `ssl.keystore.type` or `ssl.truststore.type` says, in capitals; None when the
        content of a file decides."""
        ...

    def shown(self, setting: str, /) -> str:
        """The setting as an error names it."""
        ...


class ListenerTlsSettings:
    """The settings of a listener of a node: those with its prefix, then those of all listeners."""

    def __init__(self, settings: Layers, listener_name: str) -> None:
        self.settings, self.listener_name = settings, listener_name

    def text(self, setting: str) -> str | None:
        """A text, or None when there is none."""
        return cast("str | None", of_listener(self.settings, self.listener_name, setting)) or None

    def names(self, setting: str) -> Sequence[str]:
        """A list."""
        return cast("tuple[str, ...]", of_listener(self.settings, self.listener_name, setting))

    def format_of(self, store: str) -> str | None:
        """The format that the settings say, in capitals."""
        return (self.text(f"ssl.{store}.type") or "JKS").upper()

    def shown(self, setting: str) -> str:
        """The setting and the listener."""
        return f"{name_of_listener(self.settings, self.listener_name, setting)} (listener {self.listener_name})"
