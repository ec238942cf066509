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
SEQUENCE, EXTENSIONS, SERIAL_VERSION = 0x30, 0xA3, 0xA0
SUBJECT_ALT_NAME = bytes.fromhex("0603551d11")
MOST_COMPONENTS = 1000


class CertificateNames(NamedTuple):
    """What a reloaded key store must not change: the subject, and the alternative names in DER."""

    subject: str
    alternative: frozenset[bytes]


class _Element(NamedTuple):
    tag: int
    content: bytes
    whole: bytes


def names_of(certificate: bytes) -> CertificateNames:
    """The names in a certificate in DER. WireError."""
    outer = _one(certificate, SEQUENCE)
    fields = list(_elements(_one(outer.content, SEQUENCE).content))
    if fields and fields[0].tag == SERIAL_VERSION:
        fields = fields[1:]
    if len(fields) < 6:
        raise WireError("a certificate without a subject")
    subject = rfc2253(fields[4].whole)
    return CertificateNames(subject, frozenset(_alternative(fields[6:])))


def rfc2253(name: bytes) -> str:
    """A distinguished name in DER as Java writes it. WireError."""
    components = list(_elements(_one(name, SEQUENCE).content))
    if len(components) > MOST_COMPONENTS:
        raise WireError(f"a name of more than {MOST_COMPONENTS} components")
    return ",".join("+".join(map(_attribute, _elements(each.content))) for each in reversed(components))


def _attribute(element: _Element) -> str:
    parts = list(_elements(element.content))
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


def _alternative(fields: list[_Element]) -> Iterator[bytes]:
    for field in fields:
        if field.tag == EXTENSIONS:
            for extension in _elements(_one(field.content, SEQUENCE).content):
                if extension.content.startswith(SUBJECT_ALT_NAME):
                    octets = list(_elements(extension.content))[-1]
                    yield from (each.whole for each in _elements(_one(octets.content, SEQUENCE).content))


def _one(data: bytes, tag: int) -> _Element:
    found = next(_elements(data), None)
    if found is None or found.tag != tag:
        raise WireError(f"a certificate that has no {tag:#x} where one must be")
    return found


def _elements(data: bytes) -> Iterator[_Element]:
    """The elements of DER that follow one another."""
    at = 0
    while at < len(data):
        begin, tag = at, data[at]
        size, at = _size(data, at + 1)
        if at + size > len(data):
            raise WireError("a certificate that ends early", offset=at)
        yield _Element(tag, data[at : at + size], data[begin : at + size])
        at += size


def _size(data: bytes, at: int) -> tuple[int, int]:
    if at >= len(data):
        raise WireError("a certificate that ends early", offset=at)
    first = data[at]
    if first < 0x80:
        return first, at + 1
    count = first & 0x7F
    if not 0 < count <= 4 or at + count >= len(data):
        raise WireError("a length in a certificate that is not valid", offset=at)
    return int.from_bytes(data[at + 1 : at + 1 + count], "big"), at + 1 + count
