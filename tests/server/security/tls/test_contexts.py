"""Contexts and key stores by Kafka's settings: what works, and the sentence for each mistake."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificate

from kafkadouble.access.certificates import Certificates
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.security.tls.contexts import client_context, server_context
from kafkadouble.wire.errors import UsageError

PASSWORD = "a-secret-of-the-test"


class Files:
    """Stores of each format, with one key."""

    def __init__(self, folder: Path, made: Certificates) -> None:
        self.authority, self.pair, self.folder = made.authority, made.of_brokers(), folder
        key = load_pem_private_key(self.pair.key.encode(), None)
        certificate = load_pem_x509_certificate(self.pair.certificate.encode())
        trusted = load_pem_x509_certificate(self.authority.encode())
        encryption = BestAvailableEncryption(PASSWORD.encode())
        self.locked_key = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption).decode()
        self.pem = self.put("own.pem", self.pair.key + self.pair.certificate)
        self.locked = self.put("locked.pem", self.locked_key + self.pair.certificate)
        self.trust = self.put("trust.pem", self.authority)
        own = pkcs12.serialize_key_and_certificates(b"own", key, certificate, [trusted], encryption)  # type: ignore[arg-type]
        self.p12 = self.put("own.p12", own)
        self.trust_p12 = self.put(
            "trust.p12", pkcs12.serialize_java_truststore([pkcs12.PKCS12Certificate(trusted, b"authority")], encryption)
        )
        self.jks = self.put("own.jks", b"\xfe\xed\xfe\xed\x00\x00\x00\x02")

    def put(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Files]:
    made = Certificates("valid", ["localhost"])
    yield Files(tmp_path_factory.mktemp("stores"), made)
    made.close()


def pem(files: Files) -> dict[str, object]:
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": files.pem}


def shaken(server: ssl.SSLContext, client: ssl.SSLContext, host: str = "localhost") -> tuple[str, str]:
    """The version and the cipher of a handshake of the two."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        server.wrap_bio(to_server, to_client, server_side=True),
        client.wrap_bio(to_client, to_server, server_hostname=host),
    ]
    left, rounds = list(ends), 0
    while left:
        rounds += 1
        assert rounds < 100
        for end in list(left):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            left.remove(end)
    cipher = ends[0].cipher()
    assert cipher is not None
    return str(ends[0].version()), cipher[0]


def settings(given: Mapping[str, object]) -> Settings:
    return Settings(given)


@pytest.mark.parametrize("store", ["pem", "locked", "text", "locked text", "p12", "p12 under JKS"])
@pytest.mark.parametrize("trust", ["pem", "text", "p12"])
def test_every_format_of_stores(files: Files, store: str, trust: str) -> None:
    own: dict[str, dict[str, object]] = {
        "pem": pem(files),
        "locked": {**pem(files), "ssl.keystore.location": files.locked, "ssl.key.password": PASSWORD},
        "text": {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": files.pair.key,
            "ssl.keystore.certificate.chain": files.pair.certificate.replace("\n", "\\n"),
        },
        "locked text": {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": files.locked_key,
            "ssl.keystore.certificate.chain": files.pair.certificate,
            "ssl.key.password": PASSWORD,
        },
        "p12": {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": files.p12, "ssl.keystore.password": PASSWORD},
        "p12 under JKS": {"ssl.keystore.location": files.p12, "ssl.keystore.password": PASSWORD},
    }
    trusted: dict[str, dict[str, object]] = {
        "pem": {"ssl.truststore.type": "PEM", "ssl.truststore.location": files.trust},
        "text": {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": files.authority},
        "p12": {"ssl.truststore.location": files.trust_p12, "ssl.truststore.password": PASSWORD},
    }
    both = settings({**own[store], **trusted[trust], "ssl.client.auth": "required"})
    assert shaken(server_context(both, "SSL"), client_context(both, "SSL"))[0] == "TLSv1.3"


def test_the_settings_of_the_listener_win(files: Files) -> None:
    both = settings(
        {
            "ssl.keystore.location": "/no/such",
            **{f"listener.name.mutual.{name}": value for name, value in pem(files).items()},
            "listener.name.mutual.ssl.client.auth": "required",
        }
    )
    assert server_context(both, "MUTUAL").verify_mode is ssl.CERT_REQUIRED
    with pytest.raises(
        UsageError, match=r"^ssl.keystore.location \(listener OTHER\): /no/such cannot be read: no such"
    ):
        server_context(both, "OTHER")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"ssl.enabled.protocols": "TLSv1.2"}, ("TLSv1.2", None)),
        (
            {"ssl.enabled.protocols": "TLSv1.2", "ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
            ("TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        ),
        (
            {"ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"},
            ("TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256"),
        ),
        ({"ssl.cipher.suites": "TLS_AES_256_GCM_SHA384"}, ("TLSv1.3", "TLS_AES_256_GCM_SHA384")),
        ({"ssl.protocol": "TLSv1.2"}, ("TLSv1.3", None)),
    ],
)
def test_versions_and_cipher_suites(files: Files, given: dict[str, object], expected: tuple[str, str | None]) -> None:
    both = settings({**pem(files), "ssl.truststore.type": "PEM", "ssl.truststore.location": files.trust, **given})
    version, cipher = shaken(server_context(both, "SSL"), client_context(both, "SSL"))
    assert (version, cipher if expected[1] else None) == expected


def test_the_host_is_checked_unless_the_algorithm_is_empty(files: Files) -> None:
    trusting = {**pem(files), "ssl.truststore.type": "PEM", "ssl.truststore.location": files.trust}
    server = server_context(settings(trusting), "SSL")
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shaken(server, client_context(settings(trusting), "SSL"), "other")
    unchecked = settings({**trusting, "ssl.endpoint.identification.algorithm": ""})
    assert shaken(server, client_context(unchecked, "SSL"), "other")


def test_a_certificate_that_is_trusted_itself_needs_no_authority(files: Files) -> None:
    trust = files.put("leaf.pem", files.pair.certificate)
    both = settings({**pem(files), "ssl.truststore.type": "PEM", "ssl.truststore.location": trust})
    assert shaken(server_context(both, "SSL"), client_context(both, "SSL"))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, r"ssl.keystore.location \(listener SSL\) is not set: a listener with TLS needs a key"),
        ({"ssl.keystore.location": "{pem}"}, r"own.pem is PEM, and ssl.keystore.type is JKS: set it to PEM"),
        (
            {"ssl.keystore.location": "{p12}", "ssl.keystore.type": "PEM"},
            "another format, and ssl.keystore.type is PEM",
        ),
        ({"ssl.keystore.location": "{p12}"}, "is given without ssl.keystore.password"),
        ({"ssl.keystore.location": "{p12}", "ssl.keystore.password": "x-y-z"}, r"is ssl.keystore.password right\?"),
        ({"ssl.keystore.location": "{jks}"}, "is JKS, and only PEM and PKCS12 can be read: convert it with `keytool"),
        (
            {"ssl.keystore.location": "{locked}", "ssl.keystore.type": "PEM", "ssl.key.password": "x-y-z"},
            r"is ssl.key.password right\?",
        ),
        (
            {"ssl.keystore.location": "{trust}", "ssl.keystore.type": "PEM"},
            "it needs a private key and its certificates",
        ),
        (
            {"ssl.keystore.location": "{pem}", "ssl.keystore.type": "PEM", "ssl.keystore.password": "x-y-z"},
            r"ssl.keystore.password \(listener SSL\): a keystore in the format PEM has no password; .* ssl.key.password",
        ),
        ({"ssl.keystore.key": "x-y-z"}, "is given without ssl.keystore.certificate.chain"),
        (
            {"ssl.keystore.key": "x-y-z", "ssl.keystore.certificate.chain": "x"},
            r"ssl.keystore.key \(listener SSL\) is PEM, and ssl.keystore.type is JKS",
        ),
        (
            {"ssl.keystore.location": "{pem}", "ssl.keystore.type": "PEM", "ssl.cipher.suites": "NONE_OF_THESE"},
            r"ssl.cipher.suites \(listener SSL\): OpenSSL has no ciphers",
        ),
        ({"ssl.enabled.protocols": "SSLv3"}, r"ssl.enabled.protocols \(listener SSL\): \['SSLv3'\]: give of TLSv1.2"),
        ({"listener.name.ssl.ssl.protocol": "X"}, r"listener.name.ssl.ssl.protocol \(listener SSL\) is 'X'"),
        (
            {
                "ssl.keystore.location": "{pem}",
                "ssl.keystore.type": "PEM",
                "ssl.truststore.location": "{jks}",
            },
            r"ssl.truststore.location \(listener SSL\): .* is JKS",
        ),
    ],
)
def test_a_mistake_is_one_sentence_without_a_password(files: Files, given: dict[str, str], problem: str) -> None:
    filled = {name: value.format_map(vars(files)) for name, value in given.items()}
    with pytest.raises(UsageError, match=problem) as refused:
        server_context(settings(filled), "SSL")
    assert "x-y-z" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("protocol", "prefix", "expected"),
    [
        ("SSL", "", ssl.CERT_REQUIRED),
        ("SASL_SSL", "", ssl.CERT_NONE),
        ("SASL_SSL", "listener.name.one.", ssl.CERT_REQUIRED),
    ],
)
def test_with_sasl_a_certificate_is_required_for_a_listener_only(
    files: Files, protocol: str, prefix: str, expected: ssl.VerifyMode
) -> None:
    both = settings(
        {
            "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,ONE:{protocol},CONTROLLER:PLAINTEXT",
            **pem(files),
            f"{prefix}ssl.client.auth": "required",
        }
    )
    assert server_context(both, "ONE").verify_mode is expected
