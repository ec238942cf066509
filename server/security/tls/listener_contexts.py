"""The SSL contexts of the listeners of a node, and what a change of their settings does (KIP-226).

Rules. A change is validated before it is written: the new key store can be read, and its
certificate has the distinguished name and the alternative names of the one before, unless
`ssl.allow.dn.changes` and `ssl.allow.san.changes` say otherwise. On the listener that brokers use
among themselves, brokers with the settings before and after must be able to connect to one another
(`handshake_check.py`). Then new connections have the new certificates, and old ones go on. Files
are read again with each change of the node's settings, as Kafka does for files that were modified.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from typing import NamedTuple

from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError, WireError

from ...configs.layers import Layers
from ...configs.listener_settings import prefix_of
from ...configs.listeners import inter_broker_listener_name
from ...requests.listener_spec import ListenerSpec
from .certificate_changes import CONFIG_EXCEPTION, refused_change
from .certificate_names import CertificateNames, names_of
from .contexts import server_context_of
from .handshake_check import handshake_problem, peer_context
from .key_derivation import MOST_ROUNDS, rounds_of
from .key_stores import KeyStore, key_store, trusted_certificates
from .tls_settings import ListenerTlsSettings

log = ClientLog("kafkadouble.server.security")

BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
REFUSED = "Validation of dynamic config update of SSLFactory failed: "


NO_KEY_STORE = "Cannot remove the SSL keystore from an existing listener for which a keystore was configured."
NO_TRUST_STORE = "Cannot add SSL truststore to an existing listener for which no truststore was configured."


class ListenerCertificate(NamedTuple):
    """The context of one listener, and what a change of its certificate is compared with. `peer`:
    the context of other brokers, for the listener that they use."""

    context: ssl.SSLContext
    store: KeyStore
    names: CertificateNames
    has_trust_store: bool
    peer: ssl.SSLContext | None


class ListenerContexts:
    """The TLS contexts of all listeners of a node. Raises UsageError when it is made."""

    def __init__(self, settings: Layers, listeners: Sequence[ListenerSpec]) -> None:
        self._names = [listener.name for listener in listeners if listener.has_tls and listener.bind is not None]
        self._settings = settings
        self._contexts = {name: made_of(settings, name) for name in self._names}
        self.must_connect_peers = True
        """Whether a change is refused if brokers cannot connect to one another afterwards. A test
        that wants bad certificates says no."""

    def context(self, listener_name: str) -> ssl.SSLContext:
        """The context of the next connection to a listener."""
        return self._contexts[listener_name].context

    def problem_of(self, altered: Layers) -> str:
        """Why these settings cannot be those of the node, or "". Listeners whose own settings are
        the same are not looked at."""
        for name in self._names:
            if _own(altered, name) == _own(self._settings, name):
                continue
            if problem := self._problem_of_one(name, altered):
                return f"{REFUSED}{problem}"
        return ""

    def _problem_of_one(self, name: str, altered: Layers) -> str:
        before = self._contexts[name]
        try:
            store = key_store(ListenerTlsSettings(altered, name))
            if store is None:
                return f"{CONFIG_EXCEPTION}{NO_KEY_STORE}"
            if rounds_of(store.pem) > MOST_ROUNDS:
                return (
                    f"{CONFIG_EXCEPTION}the key takes more than {MOST_ROUNDS} rounds to decrypt, or has no such number"
                )
            after = made_of(altered, name)
        except UsageError as unusable:
            return str(unusable)
        if problem := refused_change(before.names, after.names, after.store.alias, altered):
            return problem
        if after.has_trust_store and not before.has_trust_store:
            return f"{CONFIG_EXCEPTION}{NO_TRUST_STORE}"
        return _connection_problem(before, after) if self.must_connect_peers else ""

    def reload(self, settings: Layers) -> None:
        """Applies these settings to new connections. A context that cannot use them stays as it
        was."""
        self._settings = settings
        for name in self._names:
            try:
                self._contexts[name] = made_of(settings, name)
            except UsageError as problem:
                log.warning("listener %s keeps its certificates: %s", name, problem)


def made_of(settings: Layers, listener_name: str) -> ListenerCertificate:
    """The context of a listener by these settings. UsageError."""
    context, store = server_context_of(settings, listener_name)
    has_trust_store = trusted_certificates(ListenerTlsSettings(settings, listener_name)) is not None
    is_of_brokers = inter_broker_listener_name(settings) == listener_name
    peer = peer_context(settings, listener_name) if is_of_brokers else None
    return ListenerCertificate(context, store, _names_in(store), has_trust_store, peer)


def _connection_problem(before: ListenerCertificate, after: ListenerCertificate) -> str:
    """Why a broker with the settings before and one with those after cannot connect, or ""."""
    if before.peer is None or after.peer is None:
        return ""
    return handshake_problem(before.context, after.peer) or handshake_problem(after.context, before.peer)


def _names_in(store: KeyStore) -> CertificateNames:
    begin = store.pem.find(BEGIN)
    end = store.pem.find(END, begin)
    try:
        return names_of(ssl.PEM_cert_to_DER_cert(store.pem[begin : end + len(END)]))
    except (WireError, ValueError) as problem:
        raise UsageError(f"the certificate of the key cannot be read: {problem}") from None


def _own(settings: Layers, name: str) -> dict[str, str]:
    """The settings of TLS that only this listener has."""
    prefix = f"{prefix_of(name)}ssl."
    return {each: text for each, text in settings.texts.items() if each.startswith(prefix)}
