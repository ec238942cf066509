"""TLS: which brokers the client trusts, how it authenticates, and the errors when either fails."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble.pipeline.client import NotAuthenticated, NotReachable
from kafkadouble.pipeline.client.security.tls import context
from kafkadouble.pipeline.client.settings import ClientSettings
from kafkadouble.wire.errors import UsageError
from tests.support.pipeline_client import client_of, works

from .fake_broker import FakeBroker

KEYS = Path(__file__).parent / "keys"
SERVER, CLIENT, LOCKED, STRANGER = (KEYS / f"{name}.pem" for name in ("server", "client", "locked", "stranger"))
TLS = {"security_protocol": "SSL", "ssl_truststore_location": SERVER, "ssl_truststore_type": "PEM"}


def listening(*, mutual: bool = False, versions: tuple[ssl.TLSVersion, ssl.TLSVersion] | None = None) -> FakeBroker:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(SERVER)
    if mutual:
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(CLIENT)
    if versions:
        made.minimum_version, made.maximum_version = versions
    return FakeBroker({}, tls=made)


@pytest.fixture(scope="module")
def broker() -> Iterator[FakeBroker]:
    with listening() as broker:
        yield broker


@pytest.fixture(scope="module")
def mutual() -> Iterator[FakeBroker]:
    with listening(mutual=True) as broker:
        yield broker


@pytest.mark.parametrize(
    "trust",
    [
        {"ssl_truststore_location": SERVER},
        {"ssl_truststore_location": SERVER, "ssl_truststore_type": "PEM"},
        {"ssl_ca_location": SERVER},
        {"ssl_truststore_certificates": SERVER.read_text()},
        {"ssl_truststore_certificates": SERVER.read_text().replace("\n", "\\n"), "ssl_truststore_type": "PEM"},
    ],
)
def test_a_broker_that_is_trusted(broker: FakeBroker, trust: dict[str, object]) -> None:
    assert works(client_of(broker.bootstrap, security_protocol="SSL", **trust))
    assert works(client_of(f"localhost:{broker.port}", security_protocol="SSL", **trust))


def test_a_broker_that_is_not(broker: FakeBroker) -> None:
    message = r"broker 127.0.0.1:\d+ shows a certificate that is not trusted: .*; look at ssl.truststore.location"
    for trust in ({"ssl_truststore_location": STRANGER}, {}):
        with pytest.raises(NotAuthenticated, match=message):
            works(client_of(broker.bootstrap, security_protocol="SSL", **trust))


def test_the_name_in_the_certificate_is_checked_by_default() -> None:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(CLIENT)  # a certificate without a host name
    with FakeBroker({}, tls=made) as broker:
        trust = {"security_protocol": "SSL", "ssl_truststore_location": CLIENT}
        with pytest.raises(NotAuthenticated, match=r"not trusted: .*127.0.0.1"):
            works(client_of(broker.bootstrap, **trust))
        assert works(client_of(broker.bootstrap, **trust, ssl_endpoint_identification_algorithm=""))


@pytest.mark.parametrize(
    "own",
    [
        {"ssl_keystore_location": CLIENT},
        {"ssl_keystore_location": LOCKED, "ssl_key_password": "changeit"},
        {
            "ssl_keystore_key": CLIENT.read_text().partition("-----BEGIN CERT")[0],
            "ssl_keystore_certificate_chain": CLIENT.read_text()[CLIENT.read_text().index("-----BEGIN CERT") :],
        },
    ],
)
def test_the_client_shows_its_certificate(mutual: FakeBroker, own: dict[str, object]) -> None:
    assert works(client_of(mutual.bootstrap, **TLS, **own))


def test_a_client_that_does_not_is_turned_away(mutual: FakeBroker) -> None:
    """With TLS 1.3 the client learns this only from the first response, in the same way as any lost
    connection."""
    with pytest.raises((NotAuthenticated, NotReachable), match=f"broker {mutual.bootstrap}"):
        works(client_of(mutual.bootstrap, **TLS, default_api_timeout_ms=100))


def test_a_server_without_tls_is_reported() -> None:
    with FakeBroker({}) as plain, pytest.raises((NotAuthenticated, NotReachable), match="TLS"):
        works(client_of(plain.bootstrap, **TLS, default_api_timeout_ms=100))


def test_a_client_without_tls_gets_a_hint(broker: FakeBroker) -> None:
    with pytest.raises(NotReachable, match=r"is security.protocol=PLAINTEXT right for it"):
        works(client_of(broker.bootstrap, default_api_timeout_ms=100))


def test_versions_of_tls() -> None:
    only = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2)
    with listening(versions=only) as broker:
        assert works(client_of(broker.bootstrap, **TLS))
        with pytest.raises((NotAuthenticated, NotReachable)):
            works(client_of(broker.bootstrap, **TLS, ssl_enabled_protocols="TLSv1.3", default_api_timeout_ms=100))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"ssl.truststore.location": "/no/such.pem"},
            r"ssl.truststore.location: /no/such.pem cannot be read: no such file",
        ),
        ({"ssl.keystore.location": "/no/such.pem"}, r"ssl.keystore.location: /no/such.pem cannot be read"),
        ({"ssl.keystore.key": "x"}, "are of use only together"),
        ({"ssl.keystore.location": str(LOCKED), "ssl.key.password": "wrong"}, r"is ssl.key.password right\?"),
        (
            {"ssl.truststore.certificates": "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----"},
            "no certificate",
        ),
        ({"ssl.enabled.protocols": "SSLv3"}, r"ssl.enabled.protocols: \['SSLv3'\]: give of TLSv1.2, TLSv1.3"),
        ({"ssl.cipher.suites": "NONE_OF_THESE"}, "ssl.cipher.suites: OpenSSL has no ciphers with these names"),
    ],
)
def test_impossible_options_are_reported(given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        context(ClientSettings({"bootstrap.servers": "localhost:9092", "security.protocol": "SSL", **given}))


@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_a_store_of_java_is_refused_with_how_to_convert_it(tmp_path: Path, store: str) -> None:
    path = tmp_path / "store.jks"
    path.write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    given = {f"ssl.{store}.location": path, f"ssl.{store}.type": "JKS", "bootstrap.servers": "localhost:9092"}
    with pytest.raises(
        UsageError, match=rf"ssl.{store}.location: .*store.jks is JKS, and only PEM and PKCS12 can be read: convert it"
    ):
        context(ClientSettings({**given, "security.protocol": "SSL"}))
