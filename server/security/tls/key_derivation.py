"""How much work it takes to decrypt a private key (PKCS #8, PBES2 of RFC 8018).

A client that may alter configs chooses the key, and with it the rounds: 2^31 of them would keep the
loop for an hour. The key is decrypted at once, so the number is bounded; openssl writes 2,048. An
encryption that is not read here counts as too much work: OpenSSL reads more forms than this file.
"""

from __future__ import annotations

import binascii
import re

from kafkadouble.wire.errors import WireError

from .der import INTEGER, SEQUENCE, elements, one

MOST_ROUNDS = 20_000
"""About 20 ms of PBKDF2. The cost of scrypt is bounded by the same number, of which its default,
16,384, takes 16 MiB."""

TOO_MANY = 1 << 63

_ENCRYPTED = re.compile(r"-----BEGIN ENCRYPTED PRIVATE KEY-----([A-Za-z0-9+/=\s]*)-----END ENCRYPTED PRIVATE KEY-----")
_DEEPEST = 8


def rounds_of(pem: str) -> int:
    """The largest number of rounds that an encrypted key in this text wants; 0 without one, and
    TOO_MANY for an encryption that is not read here."""
    if "ENCRYPTED" in _ENCRYPTED.sub("", pem):
        return TOO_MANY
    return max(map(_rounds, _ENCRYPTED.findall(pem)), default=0)


def _rounds(base64: str) -> int:
    """The largest number among the parameters of the encryption."""
    try:
        info = one(binascii.a2b_base64("".join(base64.split()), strict_mode=True), SEQUENCE)
        return _largest(one(info.content, SEQUENCE).content, _DEEPEST)
    except (WireError, ValueError):
        return TOO_MANY


def _largest(data: bytes, depth: int) -> int:
    if not depth:
        return TOO_MANY
    found = 0
    for element in elements(data):
        if element.tag == INTEGER:
            found = max(found, int.from_bytes(element.content, "big"))
        elif element.tag == SEQUENCE:
            found = max(found, _largest(element.content, depth - 1))
    return found
