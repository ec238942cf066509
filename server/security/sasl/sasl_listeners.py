"""The enabled mechanisms of each listener of a node, as its settings are now.

Rules. They are read again when the settings have changed: a broker's logins may be altered while it
runs (KIP-226). Settings that were altered to what cannot be read change nothing: a listener
keeps those that it had, and after a restart it has those of the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from ...configs.layers import Layers
from ...configs.settings import Settings
from .credential_store import CredentialHost, CredentialStore
from .listener_mechanisms import enabled_mechanisms
from .server_authenticator import EnabledMechanisms

if TYPE_CHECKING:
    from .remote_keys import RemoteKeySets

log = ClientLog("kafkadouble.server.security")


class SaslListeners:
    """Of one node."""

    def __init__(self, host: CredentialHost) -> None:
        self._host, self._store = host, CredentialStore(host)
        self._read: dict[str, tuple[Settings, EnabledMechanisms]] = {}

    @property
    def remote_keys(self) -> RemoteKeySets:
        """The keys behind URLs that its mechanisms use."""
        return self._store.key_sets

    def enabled(self, listener: str) -> EnabledMechanisms:
        """The mechanisms of a listener. UsageError if those of the start cannot be read."""
        settings, known = self._host.settings, self._read.get(listener)
        if known is not None and known[0] is settings:
            return known[1]
        try:
            found = enabled_mechanisms(settings, listener, self._store)
        except UsageError as problem:
            log.warning("listener %s keeps its logins: %s", listener, problem)
            found = enabled_mechanisms(Layers(settings.static), listener, self._store) if known is None else known[1]
        self._read[listener] = settings, found
        return found

    def __repr__(self) -> str:
        return f"mechanisms of {len(self._read)} listeners"
