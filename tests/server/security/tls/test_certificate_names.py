"""The names in certificates. The expected texts are those of Java 17's X500Principal.getName() for
the same certificates."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.name import _ASN1Type as Tag
from cryptography.x509.oid import NameOID as Name

from kafkadouble.server.security.tls.certificate_names import names_of
from kafkadouble.wire.errors import WireError

KEY = ec.generate_private_key(ec.SECP256R1())
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
Attribute = x509.NameAttribute


def certificate(subject: x509.Name, *alternative: x509.GeneralName) -> bytes:
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(KEY.public_key())
        .serial_number(1)
        .not_valid_before(BEGIN)
        .not_valid_after(BEGIN + timedelta(days=1))
    )
    if alternative:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternative), critical=False)
    return builder.sign(KEY, SHA256()).public_bytes(Encoding.DER)


SIMPLE = x509.Name(
    [
        Attribute(Name.COUNTRY_NAME, "DE"),
        Attribute(Name.ORGANIZATION_NAME, "A, B + C"),
        Attribute(Name.ORGANIZATIONAL_UNIT_NAME, "ou"),
        Attribute(Name.COMMON_NAME, "alice"),
    ]
)
MANY = x509.Name(
    [
        Attribute(Name.DOMAIN_COMPONENT, "org"),
        Attribute(Name.DOMAIN_COMPONENT, "example"),
        Attribute(Name.USER_ID, "u1"),
        Attribute(Name.STREET_ADDRESS, "s"),
        Attribute(Name.LOCALITY_NAME, "l"),
        Attribute(Name.STATE_OR_PROVINCE_NAME, "st"),
        Attribute(Name.SERIAL_NUMBER, "77"),
        Attribute(Name.TITLE, "Dr"),
        Attribute(Name.COMMON_NAME, '#x;"<>\\=y'),
    ]
)
TOGETHER = x509.Name(
    [
        x509.RelativeDistinguishedName([Attribute(Name.COMMON_NAME, "multi"), Attribute(Name.USER_ID, "id")]),
        x509.RelativeDistinguishedName([Attribute(Name.ORGANIZATION_NAME, "ö é")]),
    ]
)
BLANKS = x509.Name([Attribute(Name.EMAIL_ADDRESS, "a@b.c"), Attribute(Name.COMMON_NAME, " lead and trail ")])


def common(name: str, tag: Tag | None = None) -> x509.Name:
    return x509.Name([Attribute(Name.COMMON_NAME, name) if tag is None else Attribute(Name.COMMON_NAME, name, tag)])


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (SIMPLE, "CN=alice,OU=ou,O=A\\, B \\+ C,C=DE"),
        (BLANKS, "CN=\\ lead and trail\\ ,1.2.840.113549.1.9.1=#16056140622e63"),
        (
            MANY,
            'CN=\\#x\\;\\"\\<\\>\\\\\\=y,2.5.4.12=#0c024472,2.5.4.5=#13023737,ST=st,L=l,STREET=s,UID=u1,DC=example,DC=org',
        ),
        (TOGETHER, "O=ö é,CN=multi+UID=id"),
        (common("bmp", Tag.BMPString), "CN=\\00b\\00m\\00p"),
        (common("printable", Tag.PrintableString), "CN=printable"),
        (common("ia5", Tag.IA5String), "CN=ia5"),
        (common("t61", Tag.T61String), "CN=t61"),
        (common("uni", Tag.UniversalString), "CN=#1c0c000000750000006e00000069"),
        (common("x  "), "CN=x\\ \\ "),
        (common(" "), "CN=\\ "),
        (common("line\nbreak\x01"), "CN=line\nbreak\x01"),
    ],
)
def test_the_subject_is_written_as_java_writes_it(subject: x509.Name, expected: str) -> None:
    assert names_of(certificate(subject)).subject == expected


def test_certificate_has_alternative_names() -> None:
    host, other = x509.DNSName("localhost"), x509.DNSName("other")
    assert names_of(certificate(SIMPLE)).alternative == frozenset()
    one, two = (names_of(certificate(SIMPLE, *names)).alternative for names in ((host,), (other, host)))
    assert one == {b"\x82\x09localhost"}
    assert one < two


def test_bytes_that_are_no_certificate_are_a_wire_error() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    chance, whole = random.Random(seed), certificate(MANY, x509.DNSName("localhost"))
    for size in range(0, len(whole), 7):
        with pytest.raises(WireError):
            names_of(whole[:size])
    for _ in range(2000):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            names_of(bytes(data))
        except WireError:
            continue
