"""Key stores and trust stores: PEM files, PEM texts in settings (KIP-651), and PKCS#12.

Rules. Kafka's formats and what it refuses: a password for a PEM store, texts in another format than
PEM, a PKCS#12 store without a password. Java reads PKCS#12 under the type JKS, too; JKS itself is
refused, with the command that converts it. OpenSSL loads keys from files alone, so a key is for a
moment in a file that only this user can read. PKCS#12 needs the library `cryptography`.
"""

from __future__ import annotations

import os
import ssl
import stat
import tempfile
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError

from .tls_settings import TlsSettings

KEYSTORE, TRUSTSTORE = "keystore", "truststore"
TYPES = {KEYSTORE: "ssl.keystore.type", TRUSTSTORE: "ssl.truststore.type"}
LOCATIONS = {KEYSTORE: "ssl.keystore.location", TRUSTSTORE: "ssl.truststore.location"}
PASSWORDS = {KEYSTORE: "ssl.keystore.password", TRUSTSTORE: "ssl.truststore.password"}
KEY, CHAIN, CERTIFICATES = "ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.truststore.certificates"
KEY_PASSWORD = "ssl.key.password"
PEM, PKCS12 = "PEM", "PKCS12"
BEGINS = "-----BEGIN "
OF_JAVA = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
"""The first bytes of the formats JKS and JCEKS."""

TO_PKCS12 = "keytool -importkeystore -srckeystore {path} -destkeystore {path}.p12 -deststoretype PKCS12"
LONGEST = 16 << 20
"""Bytes of a store; the stores of Java with all public authorities have a few hundred kB."""

LONGEST_TEXT = 1 << 20
"""Characters of a store that is the text of a setting, which a client may alter."""


class KeyStore(NamedTuple):
    """A private key and its certificates as PEM, the certificate of the key first."""

    pem: str
    password: str | None
    """Of the private key, if it is encrypted."""
    alias: str = "kafka"
    """The name of the entry; Kafka gives this one to PEM."""


def key_store(settings: TlsSettings) -> KeyStore | None:
    """The key and the certificates of the settings; None if they have none. UsageError."""
    chain, key, password = (settings.text(name) for name in (CHAIN, KEY, KEY_PASSWORD))
    if (chain is None) != (key is None):
        given, lacking = (KEY, CHAIN) if chain is None else (CHAIN, KEY)
        raise UsageError(f"{settings.shown(given)} is given without {lacking}: they are of use only together")
    if key is not None and chain is not None:
        _check_text(settings, KEYSTORE, KEY)
        _check_size(settings, KEY, CHAIN)
        return KeyStore(f"{_lines(key)}\n{_lines(chain)}", password)
    name = LOCATIONS[KEYSTORE]
    if settings.text(name) is None:
        return None
    data = _content(settings, name)
    format_ = _format(settings, KEYSTORE, name, data)
    if format_ == PEM:
        return KeyStore(str(data, "latin-1"), password)
    return KeyStore(_from_pkcs12(settings, KEYSTORE, name, data), None)


def location_of(settings: TlsSettings) -> str:
    """The setting that has the key."""
    return KEY if settings.text(KEY) is not None else LOCATIONS[KEYSTORE]


def trusted_certificates(settings: TlsSettings, *names: str) -> str | None:
    """The trusted certificates of the settings as PEM; None if they have none. `names` are settings
    of files, besides Kafka's. UsageError."""
    if (text := settings.text(CERTIFICATES)) is not None:
        _check_text(settings, TRUSTSTORE, CERTIFICATES)
        _check_size(settings, CERTIFICATES)
        return _lines(text)
    for name in (LOCATIONS[TRUSTSTORE], *names):
        if settings.text(name) is not None:
            data = _content(settings, name)
            is_pem = _format(settings, TRUSTSTORE, name, data) == PEM
            return str(data, "latin-1") if is_pem else _from_pkcs12(settings, TRUSTSTORE, name, data)
    return None


def load_key(context: ssl.SSLContext, store: KeyStore, settings: TlsSettings) -> None:
    """Loads this certificate as the one that the context shows. Raises UsageError."""
    password = store.password or ""
    descriptor, path = tempfile.mkstemp(suffix=".pem")  # readable by this user alone
    try:
        with os.fdopen(descriptor, "w", encoding="latin-1") as file:
            file.write(store.pem)
        context.load_cert_chain(path, password=lambda: password)
    except ssl.SSLError as error:
        why = f"is {KEY_PASSWORD} right?" if "ENCRYPTED" in store.pem else "it needs a private key and its certificates"
        raise UsageError(
            f"{settings.shown(location_of(settings))}: no key and certificate can be read from it ({error.reason or error}): {why}"
        ) from None
    finally:
        os.unlink(path)


def load_trusted(context: ssl.SSLContext, certificates: str, settings: TlsSettings) -> None:
    """Makes the context trust these certificates, each of them as Java does: also one that is not
    an authority's. UsageError."""
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=certificates)
    except ssl.SSLError as error:
        setting = CERTIFICATES if settings.text(CERTIFICATES) else LOCATIONS[TRUSTSTORE]
        raise UsageError(
            f"{settings.shown(setting)}: no certificate can be read from it: {error.reason or error}"
        ) from None


def _check_text(settings: TlsSettings, store: str, setting: str) -> None:
    """Kafka takes the contents of a store as a text in the format PEM only, and once."""
    if settings.format_of(store) not in (PEM, None):
        shown = settings.shown(setting)
        raise UsageError(f"{shown} is PEM, and {TYPES[store]} is {settings.format_of(store)}: set it to PEM")
    if settings.text(LOCATIONS[store]) is not None:
        raise UsageError(f"{settings.shown(setting)} and {LOCATIONS[store]} are both given: give one of them")
    _check_no_password(settings, store, settings.format_of(store) is None)


def _check_size(settings: TlsSettings, *names: str) -> None:
    for name in names:
        if len(settings.text(name) or "") > LONGEST_TEXT:
            raise UsageError(f"{settings.shown(name)} is longer than {LONGEST_TEXT >> 20} MiB: this is no store")


def _check_no_password(settings: TlsSettings, store: str, is_lenient: bool) -> None:
    setting = PASSWORDS[store]
    if settings.text(setting) is not None and not is_lenient:
        hint = f"; the password of the key is {KEY_PASSWORD}" if store == KEYSTORE else ""
        raise UsageError(f"{settings.shown(setting)}: a {store} in the format PEM has no password{hint}")


def _lines(text: str) -> str:
    return text.replace("\\n", "\n")


def _content(settings: TlsSettings, name: str) -> bytes:
    path = settings.text(name) or ""
    try:
        data = _of_regular_file(path)
    except OSError as error:
        raise UsageError(f"{settings.shown(name)}: {path} cannot be read: {(error.strerror or '').lower()}") from None
    except ValueError:
        raise UsageError(f"{settings.shown(name)}: there is no such path") from None
    if len(data) > LONGEST:
        raise UsageError(f"{settings.shown(name)}: {path} is larger than {LONGEST >> 20} MiB: this is no store")
    return data


def _of_regular_file(path: str) -> bytes:
    """The content of a regular file. OSError for anything else, which could wait for ever."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(0, "it is no regular file")
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # it was replaced meanwhile
            raise OSError(0, "it is no regular file")
        return file.read(LONGEST + 1)


def _format(settings: TlsSettings, store: str, name: str, data: bytes) -> str:
    """PEM or PKCS12, as the content is. UsageError for JKS, and where the settings say another."""
    path, declared = settings.text(name), settings.format_of(store)
    place = f"{settings.shown(name)}: {path}"
    if data.startswith(OF_JAVA):
        raise UsageError(
            f"{place} is JKS, and only PEM and PKCS12 can be read: convert it with `{TO_PKCS12.format(path=path)}`"
        )
    if BEGINS.encode() in data:
        if declared not in (PEM, None):
            raise UsageError(f"{place} is PEM, and {TYPES[store]} is {declared}: set it to PEM")
        _check_no_password(settings, store, declared is None)
        return PEM
    if declared == PEM or not data.startswith(b"0"):
        allowed = f"{TYPES[store]} is {declared}" if declared else "only PEM and PKCS12 can be read"
        raise UsageError(f"{place} is another format, and {allowed}")
    return PKCS12


def _from_pkcs12(settings: TlsSettings, store: str, name: str, data: bytes) -> str:
    """The content of a PKCS#12 store as PEM: key, its certificate, then the others."""
    try:
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    except ImportError:
        raise UsageError(
            f"{settings.shown(name)}: a store in the format PKCS12 needs pip install 'kafkadouble[security]'"
        ) from None
    password = settings.text(PASSWORDS[store])
    if password is None and store == KEYSTORE:
        raise UsageError(f"{settings.shown(name)} is given without {PASSWORDS[store]}")
    try:
        found = load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise UsageError(
            f"{settings.shown(name)}: {settings.text(name)} cannot be read as PKCS12: is {PASSWORDS[store]} right?"
        ) from None
    parts = []
    if found.key is not None and store == KEYSTORE:
        parts.append(found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    certificates = [*([found.cert] if found.cert is not None else []), *found.additional_certs]
    parts += [certificate.certificate.public_bytes(Encoding.PEM) for certificate in certificates]
    return b"".join(parts).decode("ascii")
