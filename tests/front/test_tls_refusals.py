"""Handshakes of TLS that a listener must refuse: certificates of clients before and after their
time, older versions, and downgrades. A good client is served beside each."""

from __future__ import annotations

import logging
import re
import socket
import ssl
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from kafkadouble import KafkaDouble
from kafkadouble.messages import headers
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest

PATIENCE_S = 30
ALERT, FATAL, INAPPROPRIATE_FALLBACK, PROTOCOL_VERSION = 21, 2, 86, 70
FAILED = "the TLS handshake has failed"


def certificate_of_alice(kafka: KafkaDouble, begins_in_days: int, folder: Path) -> Path:
    """A key, and a certificate that the double's authority has signed, for two days."""
    certificates = kafka._double_host.security and kafka._double_host.security.certificates
    assert certificates
    key, begin = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC) + timedelta(days=begins_in_days)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "alice")]))
        .issuer_name(certificates._authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=2))
    )
    made, path = builder.sign(certificates._authority_key, SHA256()), folder / f"alice{begins_in_days}.pem"
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(text + made.public_bytes(Encoding.PEM))
    return path


def connection(kafka: KafkaDouble) -> socket.socket:
    return socket.create_connection(("127.0.0.1", kafka.port), PATIENCE_S)


def context(kafka: KafkaDouble) -> ssl.SSLContext:
    found = kafka.client_config(None, "aiokafka")["ssl_context"]
    assert isinstance(found, ssl.SSLContext)
    return found


def is_served(kafka: KafkaDouble, made: ssl.SSLContext) -> bool:
    """Whether a request is answered. Raises OSError for a connection that is refused."""
    with connection(kafka) as plain, made.wrap_socket(plain, server_hostname="localhost") as sock:
        sock.sendall(b"".join(headers.write_request(ApiVersionsRequest(), 7, "test", 0)))
        return len(sock.recv(8)) == 8


@contextmanager
def refused(kafka: KafkaDouble, caplog: pytest.LogCaptureFixture, reason: str) -> Iterator[None]:
    """The handshakes inside are refused for this reason, with a line in the log, and good clients
    are served before and after."""
    assert is_served(kafka, context(kafka))
    with caplog.at_level(logging.INFO):
        yield
        assert is_served(kafka, context(kafka))
    assert re.search(f"{FAILED}.*{reason}", caplog.text), caplog.text


@pytest.mark.parametrize(
    ("begins_in_days", "reason"), [(-5, "certificate has expired"), (3, "certificate is not yet valid")]
)
def test_a_certificate_of_a_client_before_and_after_its_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, begins_in_days: int, reason: str
) -> None:
    with KafkaDouble(security="SSL", config={"ssl.client.auth": "requested"}) as kafka:
        good, bad = context(kafka), context(kafka)
        good.load_cert_chain(certificate_of_alice(kafka, -1, tmp_path))
        bad.load_cert_chain(certificate_of_alice(kafka, begins_in_days, tmp_path))
        assert is_served(kafka, good)
        with refused(kafka, caplog, reason), pytest.raises(OSError, match=r"(?i)certificate|reset|EOF"):
            is_served(kafka, bad)


def test_a_client_that_has_only_older_versions(caplog: pytest.LogCaptureFixture) -> None:
    with KafkaDouble(security="SSL", config={"ssl.enabled.protocols": "TLSv1.3"}) as kafka:
        old = context(kafka)
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        with refused(kafka, caplog, "unsupported protocol"), pytest.raises(ssl.SSLError, match="VERSION"):
            is_served(kafka, old)


def test_tls_1_1_is_refused_by_every_listener(caplog: pytest.LogCaptureFixture) -> None:
    with KafkaDouble(security="SSL") as kafka:
        old = context(kafka)
        old.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with refused(kafka, caplog, "unsupported protocol"), pytest.raises(ssl.SSLError, match="VERSION"):
            is_served(kafka, old)


def test_tls_downgrade_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    """A ClientHello of TLS 1.2 says that it is a second try (RFC 7507), although the listener has
    TLS 1.3: someone may have suppressed the first."""
    with KafkaDouble(security="SSL") as kafka, refused(kafka, caplog, "inappropriate fallback"):
        with connection(kafka) as sock:
            sock.sendall(client_hello([0xC02B, 0xC02F, 0x5600]))
            alert = sock.recv(7)
        assert (alert[0], alert[5], alert[6]) == (ALERT, FATAL, INAPPROPRIATE_FALLBACK)


def client_hello(cipher_suites: list[int]) -> bytes:
    """A record with a ClientHello of TLS 1.2."""
    groups, algorithms = b"\0\x0a\0\x04\0\x02\0\x17", b"\0\x0d\0\x06\0\x04\x04\x03\x08\x04"
    suites = b"".join(suite.to_bytes(2, "big") for suite in cipher_suites)
    hello = b"\x03\x03" + bytes(range(32)) + b"\0" + len(suites).to_bytes(2, "big") + suites + b"\x01\0"
    hello += len(groups + algorithms).to_bytes(2, "big") + groups + algorithms
    message = b"\x01" + len(hello).to_bytes(3, "big") + hello
    return b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message
