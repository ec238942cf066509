"""The SSL contexts of the listeners of a node, and what a change of their settings does (KIP-226).

Rules. A change is validated before it is written: the new key store can be read, and its
certificate has the distinguished name and the alternative names of the one before, unless
`ssl.allow.dn.changes` and `ssl.allow.san.changes` say otherwise. Then new connections have the new
certificates, and old ones go on. Files are read again with each change of the node's settings, as
Kafka does for files that were modified.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Sequence
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError, WireError

from ...configs.layers import Layers
from ...configs.listener_settings import prefix_of
from ...requests.listener_spec import ListenerSpec
from .certificate_names import CertificateNames, names_of
from .contexts import server_context_of
from .key_stores import KeyStore

log = logging.getLogger("kafkadouble.server.security")

BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
REFUSED = "Validation of dynamic config update of SSLFactory failed: "


class ListenerCertificate(NamedTuple):
    """The context of one listener, and the names in its certificate."""

    context: ssl.SSLContext
    names: CertificateNames


class ListenerContexts:
    """Those of all listeners with TLS of a node. Raises UsageError when it is made."""

    def __init__(self, settings: Layers, listeners: Sequence[ListenerSpec]) -> None:
        self._names = [each.name for each in listeners if each.has_tls and each.bind is not None]
        self._settings = settings
        self._contexts = {name: made_of(settings, name) for name in self._names}

    def context(self, listener_name: str) -> ssl.SSLContext:
        """The context of the next connection to a listener."""
        return self._contexts[listener_name].context

    def problem_of(self, altered: Layers) -> str:
        """Why these settings cannot be those of the node, or ""."""
        for name in self._names:
            if not _own(altered, name) and not _own(self._settings, name):
                continue
            try:
                made = made_of(altered, name)
            except UsageError as unusable:
                return f"{REFUSED}{unusable}"
            if problem := _incompatible(self._contexts[name].names, made.names, altered):
                return f"{REFUSED}{problem}"
        return ""

    def reload(self, settings: Layers) -> None:
        """Have new connections use these settings. One that cannot be used stays as it was."""
        self._settings = settings
        for name in self._names:
            try:
                self._contexts[name] = made_of(settings, name)
            except UsageError as problem:
                log.warning("listener %s keeps its certificates: %s", name, problem)


def made_of(settings: Layers, listener_name: str) -> ListenerCertificate:
    """The context of a listener by these settings. UsageError."""
    context, store = server_context_of(settings, listener_name)
    return ListenerCertificate(context, _names_in(store))


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


def _incompatible(before: CertificateNames, after: CertificateNames, settings: Layers) -> str:
    if after.subject.lower() != before.subject.lower() and not settings.value("ssl.allow.dn.changes"):
        return f"Keystore DistinguishedName does not match: existing={before.subject}, new={after.subject}"
    if not before.alternative <= after.alternative and not settings.value("ssl.allow.san.changes"):
        return "Keystore SubjectAltNames do not match: the new certificate lacks some of the existing one"
    return ""
