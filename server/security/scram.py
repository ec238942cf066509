"""SCRAM credentials as records (RFC 5802, RFC 7677), and the `--add-scram` arguments of tools that
format a directory (KIP-900).

    SCRAM-SHA-256=[name=alice,password=alice-secret]
    SCRAM-SHA-512=[name=bob,saltedpassword="c2VjcmV0...",salt="c2FsdA==",iterations=8192]

A record holds the salt and two keys, never the password.
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


class ScramMechanism(NamedTuple):
    """The number of the mechanism in records, its hash, and the least number of iterations."""

    type: int
    hash: str
    least: int


MECHANISMS = {"SCRAM-SHA-256": ScramMechanism(1, "sha256", 4096), "SCRAM-SHA-512": ScramMechanism(2, "sha512", 4096)}
MAX_ITERATIONS = 16384
DEFAULT_ITERATIONS = 4096
SALT_SIZE = 32
"""The size (bytes) of a generated salt."""

KNOWN = ("name", "password", "saltedpassword", "salt", "iterations")


def credential(text: str, randbytes: Callable[[int], bytes]) -> UserScramCredentialRecord:
    """The record of one argument. UsageError says what is wrong with it, without the password."""
    name, equals, inside = text.strip().partition("=")
    mechanism = MECHANISMS.get(name)
    if not equals or mechanism is None:
        raise UsageError(f"--add-scram {name}: {' and '.join(MECHANISMS)} are known, as in {name or 'NAME'}=[name=...]")
    if not (inside.startswith("[") and inside.endswith("]")):
        raise UsageError(f"--add-scram {name}: the value after = must be in [ and ]")
    found = _components(name, inside[1:-1])
    salt = _decoded(name, "salt", found["salt"]) if "salt" in found else randbytes(SALT_SIZE)
    iterations = _iterations(name, found.get("iterations", str(DEFAULT_ITERATIONS)), mechanism)
    return record_of(found["name"], mechanism, salt, _salted(name, found, mechanism, salt, iterations), iterations)


def record_of(
    user: str, mechanism: ScramMechanism, salt: bytes, salted: bytes, iterations: int
) -> UserScramCredentialRecord:
    """The record of a salted password."""
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
        raise UsageError(f"--add-scram {name}: the user must be given by name=")
    if not {"password", "saltedpassword"} & found.keys():
        raise UsageError(f"--add-scram {name}: a password= or a saltedpassword= is needed")
    return found


def _iterations(name: str, text: str, mechanism: ScramMechanism) -> int:
    if not text.isdecimal() or not mechanism.least <= int(text) <= MAX_ITERATIONS:
        raise UsageError(f"--add-scram {name}: iterations go from {mechanism.least} to {MAX_ITERATIONS}, not {text}")
    return int(text)


def _salted(name: str, found: dict[str, str], mechanism: ScramMechanism, salt: bytes, iterations: int) -> bytes:
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
