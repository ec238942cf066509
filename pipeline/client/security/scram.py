"""SCRAM: the client proves that it knows the password, and the server that it has the stored keys
(RFC 5802, RFC 7677, KIP-84).

This file sends nothing: `exchange` is a generator that yields the bytes to send and receives those
of the server. A server without a valid proof is a ScramError, and so is one that asks for too many
iterations.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable, Generator

MOST_ITERATIONS = 1_000_000
"""The largest number of iterations: about one second of work. Kafka's default is 4096, and its
maximum 16384."""

HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class ScramError(Exception):
    """The server's messages are no valid proof."""


def _nonce() -> str:
    return base64.b64encode(secrets.token_bytes(24)).decode()


def exchange(
    mechanism: str, username: str, password: str, nonce: Callable[[], str] = _nonce
) -> Generator[bytes, bytes, None]:
    """The messages of the client, in order."""
    algorithm = HASHES[mechanism]
    own = nonce()
    bare = f"n={username.replace('=', '=3D').replace(',', '=2C')},r={own}"
    server_first = _text((yield f"n,,{bare}".encode()))
    attributes = _fields(server_first)
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), _salt(attributes), _iterations(attributes))
    if not attributes["r"].startswith(own) or attributes["r"] == own:
        raise ScramError("its nonce is not made of ours")
    without_proof = f"c=biws,r={attributes['r']}"
    auth_message = f"{bare},{server_first},{without_proof}".encode()
    client_key = _mac(algorithm, salted, b"Client Key")
    signature = _mac(algorithm, hashlib.new(algorithm, client_key).digest(), auth_message)
    proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    final = _fields(_text((yield f"{without_proof},p={base64.b64encode(proof).decode()}".encode())))
    if "e" in final:
        raise ScramError(f"it answers {final['e'][:100]!r}")
    expected = _mac(algorithm, _mac(algorithm, salted, b"Server Key"), auth_message)
    if not hmac.compare_digest(_decoded(final.get("v", "")), expected):
        raise ScramError("its server signature is not the expected one")


def _mac(algorithm: str, key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, algorithm).digest()


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ScramError("it sends something that is no text") from None


def _fields(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in text.split(","))}


def _salt(attributes: dict[str, str]) -> bytes:
    if not {"r", "s", "i"} <= set(attributes):
        raise ScramError("it sends no nonce, salt and iterations")
    return _decoded(attributes["s"])


def _iterations(attributes: dict[str, str]) -> int:
    count = int(attributes["i"]) if attributes["i"].isdecimal() and len(attributes["i"]) < 10 else 0
    if not 0 < count <= MOST_ITERATIONS:
        raise ScramError(f"it requires {attributes['i'][:20]} iterations, where 1 to {MOST_ITERATIONS} are allowed")
    return count


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ScramError("it sends something that is no base64") from None
