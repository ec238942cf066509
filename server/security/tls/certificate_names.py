"""The names in a certificate: its subject as Java writes it (RFC 2253), and its alternative names.

Rules. Java's X500Principal.getName(): the last component first; the keywords of RFC 2253 and no
others, so that an e-mail address is 1.2.840.113549.1.9.1=#16.. in hex; values that are not texts in
hex too. This is a reader of DER for these two fields alone. WireError for a certificate that it
cannot read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkadouble.wire.errors import WireError

from .der import SEQUENCE, DerElement, elements, one

KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "2.5.4.9": "STREET",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
"""The keywords of RFC 2253, by object identifier."""

TEXTS = {0x0C: "utf-8", 0x13: "ascii", 0x14: "latin-1", 0x16: "ascii", 0x1E: "utf-8"}
"""The tags of texts, and the encodings in which Java reads them: a BMPString byte by byte, too."""

ESCAPED = ',=+<>;"\\'
EXTENSIONS, SERIAL_VERSION = 0xA3, 0xA0
SUBJECT_ALT_NAME = bytes.fromhex("0603551d11")
MOST_COMPONENTS = 1000
LONGEST_IDENTIFIER = 100
"""Bytes of an object identifier. Its numbers have no bound of their own."""


class CertificateNames(NamedTuple):
    """The names that a reloaded key store must not change: the subject, and the alternative names
    in DER."""

    subject: str
    alternative: frozenset[bytes]


def names_of(certificate: bytes) -> CertificateNames:
    """The names in a certificate in DER. WireError."""
    outer = one(certificate, SEQUENCE)
    fields = list(elements(one(outer.content, SEQUENCE).content))
    if fields and fields[0].tag == SERIAL_VERSION:
        fields = fields[1:]
    if len(fields) < 6:
        raise WireError("a certificate without a subject")
    subject = rfc2253(fields[4].whole)
    return CertificateNames(subject, frozenset(_alternative(fields[6:])))


def rfc2253(name: bytes) -> str:
    """A distinguished name in DER as Java writes it. WireError."""
    components = list(elements(one(name, SEQUENCE).content))
    if len(components) > MOST_COMPONENTS:
        raise WireError(f"a name of more than {MOST_COMPONENTS} components")
    return ",".join("+".join(map(_attribute, elements(component.content))) for component in reversed(components))


def _attribute(element: DerElement) -> str:
    parts = list(elements(element.content))
    if len(parts) != 2:
        raise WireError("an attribute of a name that is no pair")
    identifier, value = _object_identifier(parts[0].content), parts[1]
    keyword = KEYWORDS.get(identifier)
    encoding = TEXTS.get(value.tag)
    if keyword is None or encoding is None:
        return f"{keyword or identifier}=#{value.whole.hex()}"
    try:
        return f"{keyword}={_escaped(str(value.content, encoding))}"
    except UnicodeDecodeError:
        raise WireError("a name that is no text") from None


def _escaped(text: str) -> str:
    """RFC 2253, section 2.4. Java escapes every leading and trailing blank, and zeros."""
    inner = text.strip(" ")
    lead = len(text) - len(text.lstrip(" "))
    found = "".join("\\" + each if each in ESCAPED else each for each in inner).replace("\0", "\\00")
    if found.startswith("#") and not lead:
        found = "\\" + found
    return "\\ " * lead + found + "\\ " * (len(text) - lead - len(inner))


def _object_identifier(content: bytes) -> str:
    if len(content) > LONGEST_IDENTIFIER:
        raise WireError(f"an object identifier of more than {LONGEST_IDENTIFIER} bytes")
    numbers, number = [], 0
    for each in content:
        number = number << 7 | each & 0x7F
        if not each & 0x80:
            numbers.append(number)
            number = 0
    if not numbers:
        raise WireError("an empty object identifier")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _alternative(fields: list[DerElement]) -> Iterator[bytes]:
    for field in fields:
        if field.tag == EXTENSIONS:
            for extension in elements(one(field.content, SEQUENCE).content):
                if extension.content.startswith(SUBJECT_ALT_NAME):
                    octets = list(elements(extension.content))[-1]
                    yield from (element.whole for element in elements(one(octets.content, SEQUENCE).content))
