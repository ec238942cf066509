"""SCRAM: the client proves that it knows the password, and the server that it has the stored keys
(RFC 5802, RFC 7677, KIP-84). A delegation token is proved in the same way (KIP-48).

Rules. The server has salted keys and no password. A user that is not known is refused at the first
message, as in Kafka. `tokenauth=true` in the first message says that the name is the id of a
delegation token; the client is then the owner of the token. A server without a valid proof is not
trusted, and neither is one that asks for too many iterations.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from typing import NamedTuple, Protocol

from kafkadouble.server.metadata.image import ScramCredential

from ..scram import MECHANISMS
from .exchange import Authenticated, ClientExchange, SaslFailure, ServerExchange, ServerNotTrusted

MOST_ITERATIONS = 1_000_000
"""The largest number of iterations: about one second of work. Kafka's default is 4096, and its
maximum 16384."""

OTHER_AUTHORIZATION_ID = "Authentication failed: Client requested an authorization id that is different from username"

NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
VALUE = r"[\x01-\x2b\x2d-\x7f]+"
PRINTABLE = r"[\x21-\x2b\x2d-\x7e]+"
BASE64 = "(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
EXTENSIONS = f"(?:,[A-Za-z]+={VALUE})*"
FIRST = re.compile(
    f"n,(?:a=(?P<authorization_id>{NAME}))?,(?P<bare>(?:m={VALUE},)?n=(?P<name>{NAME}),r=(?P<nonce>{PRINTABLE})"
    f"(?P<extensions>{EXTENSIONS}))"
)
FINAL = re.compile(f"(?P<unproved>c={BASE64},r=(?P<nonce>{PRINTABLE}){EXTENSIONS}),p=(?P<proof>{BASE64})")


class ProvedToken(NamedTuple):
    """A delegation token: its keys, the name of its owner, and when it expires (ms)."""

    credential: ScramCredential
    owner: str
    expires_at: int


class ScramStore(Protocol):
    """The store in which the server finds keys. Both return None for a name that is not known."""

    def of_user(self, mechanism: str, name: str) -> ScramCredential | None: ...

    def of_token(self, mechanism: str, token_id: str) -> ProvedToken | None: ...

    def nonce(self) -> str:
        """A text that no client can foresee."""
        ...


def server_exchange(mechanism: str, store: ScramStore) -> ServerExchange:
    """The server's half."""
    first = _matched(FIRST, (yield b""))
    name = first["name"].replace("=2C", ",").replace("=3D", "=")
    found = _found(mechanism, store, name, by_token=_is_token(first["extensions"]))
    if (first["authorization_id"] or name) != name:
        raise SaslFailure(OTHER_AUTHORIZATION_ID)
    credential = found.credential
    if credential.iterations < MECHANISMS[mechanism].least:
        raise SaslFailure(reason=f"the credential has only {credential.iterations} iterations")
    nonce = first["nonce"] + store.nonce()
    server_first = f"r={nonce},s={_encoded(credential.salt)},i={credential.iterations}"
    final = _matched(FINAL, (yield server_first.encode()))
    if final["nonce"] != nonce:
        raise SaslFailure(reason="the final message has another nonce")
    auth_message = f"{first['bare']},{server_first},{final['unproved']}".encode()
    _check_proof(MECHANISMS[mechanism].hash, credential, auth_message, base64.b64decode(final["proof"]))
    signature = hmac.digest(credential.server_key, auth_message, MECHANISMS[mechanism].hash)
    response = f"v={_encoded(signature)}".encode()
    return Authenticated(found.owner, response, found.expires_at, by_token=found.expires_at is not None)


class _Found(NamedTuple):
    """The keys of a user, or of a token, which alone expires."""

    credential: ScramCredential
    owner: str
    expires_at: int | None = None


def _found(mechanism: str, store: ScramStore, name: str, *, by_token: bool) -> _Found:
    if by_token:
        token = store.of_token(mechanism, name)
        if token is None:
            raise SaslFailure(reason="there is no such delegation token")
        return _Found(*token)
    credential = store.of_user(mechanism, name)
    if credential is None:
        raise SaslFailure(reason="the user has no such credential")
    return _Found(credential, name)


def _is_token(extensions: str) -> bool:
    pairs = dict(pair.split("=", 1) for pair in extensions.split(",")[1:])
    return pairs.get("tokenauth", "").lower() == "true"


def _check_proof(algorithm: str, credential: ScramCredential, auth_message: bytes, proof: bytes) -> None:
    signature = hmac.digest(credential.stored_key, auth_message, algorithm)
    if len(proof) != len(signature):
        raise SaslFailure(reason="the proof has a wrong size")
    client_key = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
    if not hmac.compare_digest(hashlib.new(algorithm, client_key).digest(), credential.stored_key):
        raise SaslFailure


def _matched(pattern: re.Pattern[str], message: bytes) -> re.Match[str]:
    found = pattern.fullmatch(message.decode("utf-8", "replace"))
    if found is None:
        raise SaslFailure(reason="the message is not one of SCRAM")
    return found


def _nonce() -> str:
    return _encoded(secrets.token_bytes(24))


def client_exchange(
    mechanism: str, name: str, password: str, *, by_token: bool = False, nonce: Callable[[], str] = _nonce
) -> ClientExchange:
    """The client's half. `by_token`: the name is the id of a delegation token, the password its
    HMAC in base64."""
    algorithm = MECHANISMS[mechanism].hash
    own = nonce()
    bare = f"n={name.replace('=', '=3D').replace(',', '=2C')},r={own}{',tokenauth=true' if by_token else ''}"
    server_first = _text((yield f"n,,{bare}".encode()))
    attributes = _fields(server_first)
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), _salt(attributes), _iterations(attributes))
    if not attributes["r"].startswith(own) or attributes["r"] == own:
        raise ServerNotTrusted("its nonce is not made of ours")
    without_proof = f"c=biws,r={attributes['r']}"
    auth_message = f"{bare},{server_first},{without_proof}".encode()
    client_key = hmac.digest(salted, b"Client Key", algorithm)
    signature = hmac.digest(hashlib.new(algorithm, client_key).digest(), auth_message, algorithm)
    proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    final = _fields(_text((yield f"{without_proof},p={_encoded(proof)}".encode())))
    if "e" in final:
        raise ServerNotTrusted(f"it answers {final['e'][:100]!r}")
    expected = hmac.digest(hmac.digest(salted, b"Server Key", algorithm), auth_message, algorithm)
    if not hmac.compare_digest(_decoded(final.get("v", "")), expected):
        raise ServerNotTrusted("its server signature is not the expected one")


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ServerNotTrusted("it sends something that is no text") from None


def _fields(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in text.split(","))}


def _salt(attributes: dict[str, str]) -> bytes:
    if not {"r", "s", "i"} <= set(attributes):
        raise ServerNotTrusted("it sends no nonce, salt and iterations")
    return _decoded(attributes["s"])


def _iterations(attributes: dict[str, str]) -> int:
    count = int(attributes["i"]) if attributes["i"].isdecimal() and len(attributes["i"]) < 10 else 0
    if not 0 < count <= MOST_ITERATIONS:
        required = attributes["i"][:20]
        raise ServerNotTrusted(f"it requires {required} iterations, where 1 to {MOST_ITERATIONS} are allowed")
    return count


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ServerNotTrusted("it sends something that is no base64") from None
