"""The SSL contexts of a node by Kafka's settings: of its listeners, and for connections to other
nodes.

Rules. A mistake in the settings is a UsageError that names the setting and the listener. The files
are read when a context is made, and not again. A listener without a key is refused: Apache Kafka
starts it, and fails every handshake. `ssl.protocol` only has to be one of Java's names; the
versions that are offered are those of `ssl.enabled.protocols`.
"""

from __future__ import annotations

import re
import ssl

from kafkadouble.wire.errors import UsageError

from ...configs.layers import Layers
from ...configs.listener_settings import name_of_listener
from ...configs.listeners import security_protocols
from .key_stores import KeyStore, key_store, load_key, load_trusted, trusted_certificates
from .tls_settings import ListenerTlsSettings, TlsSettings

NAME = re.compile(r"TLS_(?:(DHE|ECDHE)_)?(RSA|ECDSA)_WITH_(\w+)")
CIPHERS = {
    "AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305",
    "AES_128_CBC_SHA256": "AES128-SHA256",
    "AES_128_CBC_SHA": "AES128-SHA",
    "AES_256_CBC_SHA256": "AES256-SHA256",
    "AES_256_CBC_SHA384": "AES256-SHA384",
    "AES_256_CBC_SHA": "AES256-SHA",
}
OF_TLS_1_3 = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")


def is_of_tls_1_3(name: str) -> bool:
    """Whether a suite is one of TLS 1.3."""
    return name in OF_TLS_1_3


def name_in_openssl(name: str) -> str:
    """OpenSSL's name of a suite of TLS 1.2, or the same name if it is not one of Java's."""
    match = NAME.fullmatch(name)
    if match is None or match[3] not in CIPHERS:
        return name
    exchange = f"{match[1]}-{match[2]}-" if match[1] else ""
    return exchange + CIPHERS[match[3]]


VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
PROTOCOLS = ("TLSv1.3", "TLSv1.2", "TLSv1.1", "TLS", "SSL", "SSLv3", "SSLv2")
"""The values that Kafka documents for `ssl.protocol`."""

CLIENT_AUTH_SETTING = "ssl.client.auth"
SASL_SSL = "SASL_SSL"
CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


def server_context(settings: Layers, listener_name: str) -> ssl.SSLContext:
    """The context of a listener. Raises UsageError."""
    return server_context_of(settings, listener_name)[0]


def server_context_of(settings: Layers, listener_name: str) -> tuple[ssl.SSLContext, KeyStore]:
    """The context of a listener, and the key and certificates that it shows. Raises UsageError."""
    given = ListenerTlsSettings(settings, listener_name)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.options |= ssl.OP_NO_RENEGOTIATION
    if (protocol := given.text("ssl.protocol")) not in (*PROTOCOLS, None):
        raise UsageError(f"{given.shown('ssl.protocol')} is {protocol!r}: give one of {', '.join(PROTOCOLS)}")
    offer(made, given)
    store = key_store(given)
    if store is None:
        raise UsageError(
            f"{given.shown('ssl.keystore.location')} is not set: a listener with TLS needs a key and its certificate"
        )
    load_key(made, store, given)
    made.verify_mode = CLIENT_AUTH[_client_auth(settings, listener_name)]
    if made.verify_mode is not ssl.CERT_NONE:
        trust(made, given, ssl.Purpose.CLIENT_AUTH)
    else:
        trusted_certificates(given)  # a mistake in them is reported all the same
    return made, store


def _client_auth(settings: Layers, listener_name: str) -> str:
    """`ssl.client.auth` of a listener. With SASL_SSL only one with the prefix of the listener
    counts (KIP-684), since its clients authenticate by SASL."""
    setting = name_of_listener(settings, listener_name, CLIENT_AUTH_SETTING)
    if setting == CLIENT_AUTH_SETTING and security_protocols(settings).get(listener_name) == SASL_SSL:
        return "none"
    return str(settings.value(setting) or "none")


def client_context(settings: Layers, listener_name: str) -> ssl.SSLContext:
    """The context for connections to this listener of other nodes. Raises UsageError."""
    return client_context_of(ListenerTlsSettings(settings, listener_name))


def client_context_of(given: TlsSettings, *trust_settings: str) -> ssl.SSLContext:
    """The context of a client. `trust_settings` are further settings of files with trusted
    certificates. Raises UsageError."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = bool(given.text("ssl.endpoint.identification.algorithm"))
    offer(made, given)
    trust(made, given, ssl.Purpose.SERVER_AUTH, *trust_settings)
    store = key_store(given)
    if store is not None:
        load_key(made, store, given)
    return made


def offer(made: ssl.SSLContext, given: TlsSettings) -> None:
    """Sets the versions and the cipher suites. Raises UsageError."""
    names = [*given.names("ssl.enabled.protocols")]
    unknown = [name for name in names if name not in VERSIONS]
    if unknown or not names:
        place = given.shown("ssl.enabled.protocols")
        raise UsageError(f"{place}: {unknown or 'none'}: give of {', '.join(VERSIONS)}")
    suites = [*given.names("ssl.cipher.suites")]
    if suites:
        names = [name for name in names if any(is_of_tls_1_3(suite) is (name == "TLSv1.3") for suite in suites)]
        if not names:
            raise UsageError(f"{given.shown('ssl.cipher.suites')}: none of them is of an enabled protocol")
        _set_ciphers(made, given, [name_in_openssl(suite) for suite in suites if not is_of_tls_1_3(suite)])
    offered = [VERSIONS[name] for name in names]
    made.minimum_version, made.maximum_version = min(offered), max(offered)


def _set_ciphers(made: ssl.SSLContext, given: TlsSettings, suites: list[str]) -> None:
    if not suites:
        return
    try:
        made.set_ciphers(":".join(suites))
    except ssl.SSLError:
        place = given.shown("ssl.cipher.suites")
        raise UsageError(f"{place}: OpenSSL has no ciphers with these names") from None


def trust(made: ssl.SSLContext, given: TlsSettings, purpose: ssl.Purpose, *trust_settings: str) -> None:
    """Sets the trusted certificates: those of the settings, or the system's. Raises UsageError."""
    certificates = trusted_certificates(given, *trust_settings)
    if certificates is None:
        made.load_default_certs(purpose)
    else:
        load_trusted(made, certificates, given)
