"""TLS by Kafka's settings: trusted certificates, the client's certificate, and the verification of
the broker's host name.

Rules. Stores are PEM, as files or as texts; Java's formats (JKS, PKCS12) are refused, with a hint
how to convert them. A failed authentication of the broker or of the client is NotAuthenticated,
without a retry; a connection that breaks is ConnectionLost.
"""

from __future__ import annotations

import os
import socket
import ssl
import tempfile
from pathlib import Path

from kafkadouble.wire.errors import UsageError

from ..dialing import description
from ..errors import ConnectionLost, NotAuthenticated
from ..names import BrokerEndpoint
from ..settings import ClientSettings

VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
BEGINS = "-----BEGIN "
CONVERT = {
    "truststore": "keytool -exportcert -rfc -alias NAME -keystore STORE > trusted.pem",
    "keystore": "openssl pkcs12 -in STORE -out own.pem (a JKS store first becomes PKCS12 by keytool -importkeystore)",
}


def secured(sock: socket.socket, endpoint: BrokerEndpoint, settings: ClientSettings, seconds: float) -> socket.socket:
    """The socket, encrypted if `security.protocol` requires it."""
    if settings.text("security.protocol") not in ("SSL", "SASL_SSL"):
        return sock
    try:
        sock.settimeout(seconds)
        return context(settings).wrap_socket(sock, server_hostname=endpoint.host)
    except (ssl.SSLCertVerificationError, ssl.CertificateError) as error:
        sock.close()
        why = getattr(error, "verify_message", "") or str(error)
        raise NotAuthenticated(
            f"broker {endpoint} shows a certificate that is not trusted: {why}; look at ssl.truststore.location"
        ) from None
    except ssl.SSLEOFError:
        sock.close()
        raise ConnectionLost(f"broker {endpoint} closed the connection in the TLS handshake") from None
    except ssl.SSLError as error:
        sock.close()
        raise NotAuthenticated(
            f"no TLS with broker {endpoint}: {error.reason or error}; does it listen for TLS?"
        ) from None
    except OSError as error:
        sock.close()
        raise ConnectionLost(f"broker {endpoint} in the TLS handshake: {description(error)}") from None
    except BaseException:
        sock.close()
        raise


def context(settings: ClientSettings) -> ssl.SSLContext:
    """The SSL context of the settings. Raises UsageError."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = bool(settings.text("ssl.endpoint.identification.algorithm"))
    _offer(made, settings)
    _trust(made, settings)
    _show(made, settings)
    return made


def _offer(made: ssl.SSLContext, settings: ClientSettings) -> None:
    names = settings.names("ssl.enabled.protocols")
    unknown = [name for name in names if name not in VERSIONS]
    if unknown or not names:
        raise UsageError(f"ssl.enabled.protocols: {unknown or 'none'}: give of {', '.join(VERSIONS)}")
    offered = [VERSIONS[name] for name in names]
    made.minimum_version, made.maximum_version = min(offered), max(offered)
    if ciphers := settings.names("ssl.cipher.suites"):
        try:
            made.set_ciphers(":".join(ciphers))
        except ssl.SSLError:
            raise UsageError("ssl.cipher.suites: OpenSSL has no ciphers with these names") from None


def _trust(made: ssl.SSLContext, settings: ClientSettings) -> None:
    text = _pem(settings, "truststore", "ssl.truststore.certificates", "ssl.truststore.location", "ssl.ca.location")
    if text is None:
        made.load_default_certs()
        return
    try:
        made.load_verify_locations(cadata=text)
    except ssl.SSLError as error:
        raise UsageError(f"ssl.truststore: no certificate can be read from it: {error.reason or error}") from None


def _show(made: ssl.SSLContext, settings: ClientSettings) -> None:
    chain, key = settings.text("ssl.keystore.certificate.chain"), settings.text("ssl.keystore.key")
    if (chain is None) != (key is None):
        raise UsageError("ssl.keystore.certificate.chain and ssl.keystore.key are of use only together")
    text = f"{key}\n{chain}" if key is not None else _pem(settings, "keystore", "", "ssl.keystore.location")
    if text is None:
        return
    password = settings.text("ssl.key.password") or ""
    # readable by this user alone; the ssl module reads keys from files only
    descriptor, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        made.load_cert_chain(path, password=lambda: password)
    except ssl.SSLError as error:
        why = "is ssl.key.password right?" if "ENCRYPTED" in text else "it needs a private key and its certificates"
        raise UsageError(
            f"ssl.keystore: no key and certificate can be read from it ({error.reason or error}): {why}"
        ) from None
    finally:
        os.unlink(path)


def _pem(settings: ClientSettings, store: str, inline: str, *files: str) -> str | None:
    """The store's text, from the setting that holds it or from the first file that is given. Raises
    UsageError when it is no PEM."""
    if inline and (text := settings.text(inline)):
        return text.replace("\\n", "\n")
    name = next((name for name in files if settings.text(name)), None)
    if name is None:
        return None
    path = Path(settings.text(name) or "")
    try:
        text = path.read_bytes().decode("latin-1")
    except OSError as error:
        raise UsageError(f"{name}: {path} cannot be read: {description(error)}") from None
    if BEGINS not in text:
        own_type = settings.text(f"ssl.{store}.type") if f"ssl.{store}.type" in settings.given else "another format"
        raise UsageError(f"{name}: {path} is {own_type}, and only PEM can be read: convert it with {CONVERT[store]}")
    return text
