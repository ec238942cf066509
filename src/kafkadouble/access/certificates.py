"""Throw-away certificates for tests: an authority, the certificate of the brokers, and one for each
user.

Rules. They are made when they are needed, and nothing is kept but PEM files in a directory of their
own, which only this user can read and which is removed with this object. What is wrong with the
brokers' certificate is said by its kind. Needs the extra `kafkadouble[security]`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.arguments.parameters import CERTIFICATES
from kafkadouble.common.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, GeneralName, KeyUsage

KINDS = CERTIFICATES
"""Of the brokers' certificate. Clients trust the authority, which has not signed one that is
self-signed."""

WRONG_HOST = "wrong.host.invalid"
DAYS = 30
Signer = tuple["EllipticCurvePrivateKey", "Certificate | None"]
"""A key and its certificate; None signs for itself."""

NAME = re.compile(r"(?! )[\w.@ -]{1,64}(?<! )")
"""Names of users: those that are written in a distinguished name as they are."""


class KeyPair(NamedTuple):
    """A private key and its certificate, as PEM."""

    key: str
    certificate: str


class Certificates:
    """`hosts` are the names and addresses of the brokers. UsageError without the extra, or for
    another kind."""

    def __init__(self, kind: str = "valid", hosts: Iterable[str] = ()) -> None:
        if kind not in KINDS:
            raise UsageError(f"certificate is {kind!r}: there are {', '.join(KINDS)}")
        try:
            import cryptography  # noqa: F401  # an extra
        except ImportError:
            raise UsageError(
                "certificates for tests are made by the library cryptography: pip install 'kafkadouble[security]'"
            ) from None
        self.kind = kind
        self.directory, self._remove = own_folder(self)
        self._authority_key = _new_key()
        self._authority = _signed("kafkadouble test authority", self._authority_key, [], (self._authority_key, None))
        self._hosts = list(dict.fromkeys(hosts))
        self.authority = _pem(self._authority)
        self.authority_file = self._write("authority.pem", self.authority)
        self._users: dict[str, Path] = {}

    def of_brokers(self, kind: str | None = None) -> KeyPair:
        """A key and a certificate for brokers to show, of the first kind or of another."""
        kind = kind or self.kind
        return self._pair("kafkadouble", [WRONG_HOST] if kind == "wrong-host" else self._hosts, kind)

    def of_user(self, user: str) -> Path:
        """The file with the key and the certificate of a user, whose name is its common name."""
        if user not in self._users:
            if not isinstance(user, str) or not NAME.fullmatch(user):
                raise UsageError(f"user is {user!r}: a name has 1 to 64 letters, digits and . _ - @, blanks inside")
            pair = self._pair(user, [])
            self._users[user] = self._write(f"user-{len(self._users) + 1}.pem", pair.key + pair.certificate)
        return self._users[user]

    def close(self) -> None:
        """Removes the files."""
        self._remove()

    def _pair(self, name: str, hosts: list[str], kind: str = "valid") -> KeyPair:
        key = _new_key()
        signer: Signer = (key, None) if kind == "self-signed" else (self._authority_key, self._authority)
        made = _signed(name, key, hosts, signer, is_expired=kind == "expired")
        # An extra.
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return KeyPair(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode("ascii"), _pem(made))

    def _write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.write_text(text, encoding="ascii")
        return path

    def __repr__(self) -> str:
        return f"{self.kind} certificates in {self.directory}"


def own_folder(owner: object) -> tuple[Path, Callable[[], object]]:
    """A folder that only this user can read, and what removes it. It is removed with its owner."""
    folder = tempfile.mkdtemp(prefix="kafkadouble-")
    return Path(folder), weakref.finalize(owner, _remove, folder, os.getpid())


def _remove(directory: str, process: int) -> None:
    """Removes the files, unless this is a fork of the process that made them."""
    if os.getpid() == process:
        shutil.rmtree(directory, ignore_errors=True)


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec  # an extra

    return ec.generate_private_key(ec.SECP256R1())


def _signed(
    name: str, key: EllipticCurvePrivateKey, hosts: list[str], signer: Signer, *, is_expired: bool = False
) -> Certificate:
    """A certificate of this name; that of an authority if it signs itself and has no hosts."""
    from cryptography import x509  # an extra
    from cryptography.hazmat.primitives.hashes import SHA256  # an extra
    from cryptography.x509.oid import NameOID  # an extra

    by_key, by = signer
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    is_authority = by is None and not hosts
    begin = datetime.now(UTC) - timedelta(days=DAYS if is_expired else 1)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if by is None else by.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=1 if is_expired else DAYS))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(by_key.public_key()), critical=False)
        .add_extension(_usage(is_authority), critical=True)
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName(map(_general_name, hosts)), critical=False)
    return builder.sign(by_key, SHA256())


def _usage(is_authority: bool) -> KeyUsage:
    from cryptography.x509 import KeyUsage  # an extra

    return KeyUsage(
        digital_signature=True,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> GeneralName:
    from cryptography import x509  # an extra

    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: Certificate) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding  # an extra

    return certificate.public_bytes(Encoding.PEM).decode("ascii")
