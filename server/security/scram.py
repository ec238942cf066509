"""Credentials as records: what is kept of a salted password (RFC 5802, RFC 7677); and the first ones of a cluster, as the tools that format a
directory are told them (KIP-900).

    SCRAM-SHA-256=[name=alice,password=alice-secret]
    SCRAM-SHA-512=[name=bob,saltedpassword="c2VjcmV0...",salt="c2FsdA==",iterations=8192]

What becomes a record are the salt and two keys; the password is in none of them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable
from typing import NamedTuple

from kafkadouble.messages.generated.user_scram_credential_record import UserScramCredentialRecord
from kafkadouble.wire.errors import UsageError


class Mechanism(NamedTuple):
    """How the record calls it, its hash, and how often that is applied at least."""

    type: int
    hash: str
    least: int


MECHANISMS = {"SCRAM-SHA-256": Mechanism(1, "sha256", 4096), "SCRAM-SHA-512": Mechanism(2, "sha512", 4096)}
MOST_ITERATIONS = 16384
USUAL_ITERATIONS = 4096
SALT = 32
"""Bytes of a salt that nobody gave."""

KNOWN = ("name", "password", "saltedpassword", "salt", "iterations")


def credential(text: str, randbytes: Callable[[int], bytes]) -> UserScramCredentialRecord:
    """The record of one argument. UsageError says what is wrong with it, without the password."""
    name, equals, inside = text.strip().partition("=")
    mechanism = MECHANISMS.get(name)
    if not equals or mechanism is None:
        raise UsageError(f"--add-scram {name}: {' and '.join(MECHANISMS)} are known, as in {name or 'NAME'}=[name=...]")
    if not (inside.startswith("[") and inside.endswith("]")):
        raise UsageError(f"--add-scram {name}: what follows the = stands in [ and ]")
    found = _components(name, inside[1:-1])
    salt = _decoded(name, "salt", found["salt"]) if "salt" in found else randbytes(SALT)
    iterations = _iterations(name, found.get("iterations", str(USUAL_ITERATIONS)), mechanism)
    return record_of(found["name"], mechanism, salt, _salted(name, found, mechanism, salt, iterations), iterations)


def record_of(
    user: str, mechanism: Mechanism, salt: bytes, salted: bytes, iterations: int
) -> UserScramCredentialRecord:
    """What is kept of a salted password."""
    client_key = hmac.digest(salted, b"Client Key", mechanism.hash)
    return UserScramCredentialRecord(
        name=user,
        mechanism=mechanism.type,
        salt=salt,
        stored_key=hashlib.new(mechanism.hash, client_key).digest(),
        server_key=hmac.digest(salted, b"Server Key", mechanism.hash),
        iterations=iterations,
    )


def _components(name: str, text: str) -> dict[str, str]:
    found = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or key not in KNOWN:
            raise UsageError(f"--add-scram {name}: there is no {key!r}, only {', '.join(KNOWN)}")
        found[key] = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
    if "name" not in found:
        raise UsageError(f"--add-scram {name}: whose credential it is must be told by name=")
    if not {"password", "saltedpassword"} & found.keys():
        raise UsageError(f"--add-scram {name}: a password= or a saltedpassword= is needed")
    return found


def _iterations(name: str, text: str, mechanism: Mechanism) -> int:
    if not text.isdecimal() or not mechanism.least <= int(text) <= MOST_ITERATIONS:
        raise UsageError(f"--add-scram {name}: iterations go from {mechanism.least} to {MOST_ITERATIONS}, not {text}")
    return int(text)


def _salted(name: str, found: dict[str, str], mechanism: Mechanism, salt: bytes, iterations: int) -> bytes:
    if "password" in found:
        return hashlib.pbkdf2_hmac(mechanism.hash, found["password"].encode(), salt, iterations)
    if "salt" not in found:
        raise UsageError(f"--add-scram {name}: a saltedpassword= needs its salt=")
    return _decoded(name, "saltedpassword", found["saltedpassword"])


def _decoded(name: str, what: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise UsageError(f"--add-scram {name}: {what} is not base64") from None
