"""The server's side of SASL, with users that a test makes up. A dialogue is a generator: it takes
the client's messages and yields the responses."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Generator, Mapping
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateResponse
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeResponse
from kafkadouble.messages.headers import RequestHead

from .fake_broker import Answer, Handler

SALT, NONCE = b"salt of a test", "of-the-server"

Dialogue = Generator[bytes, bytes, None]


class Denied(Exception):
    """The client's proof of its identity is wrong."""


def plain(users: Mapping[str, str]) -> Dialogue:
    message = yield b""
    _, name, password = message.decode().split("\0")
    if users.get(name) != password:
        raise Denied
    yield b""


def scram(algorithm: str, users: Mapping[str, str], iterations: str = "4096", spoil: bool = False) -> Dialogue:
    """RFC 5802, section 3, on the server's side. With `spoil` the server itself does not know the
    password."""
    first = (yield b"").decode()
    bare = first.removeprefix("n,,")
    fields = dict(part.split("=", 1) for part in bare.split(","))
    name = fields["n"].replace("=2C", ",").replace("=3D", "=")
    nonce = fields["r"] + NONCE
    server_first = f"r={nonce},s={base64.b64encode(SALT).decode()},i={iterations}"
    final = (yield server_first.encode()).decode()
    without_proof, _, proof = final.rpartition(",p=")
    said = f"{bare},{server_first},{without_proof}".encode()
    salted = hashlib.pbkdf2_hmac(algorithm, users.get(name, "").encode(), SALT, int(iterations))
    stored = hashlib.new(algorithm, hmac.digest(salted, b"Client Key", algorithm)).digest()
    signature = hmac.digest(stored, said, algorithm)
    key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
    if hashlib.new(algorithm, key).digest() != stored or name not in users:
        raise Denied
    own = hmac.digest(hmac.digest(salted, b"Server Key", algorithm), said, algorithm)
    yield b"v=" + base64.b64encode(bytes(len(own)) if spoil else own)


def bearer(accepted: Callable[[str], bool]) -> Dialogue:
    message = (yield b"").decode()
    if accepted(message.removeprefix("n,,\x01auth=Bearer ").removesuffix("\x01\x01")):
        yield b""
    elif (yield b'{"status":"invalid_token"}') == b"\x01":
        raise Denied


def handlers(dialogues: Mapping[str, Callable[[], Dialogue]], lifetime_ms: int = 0) -> dict[int, Handler]:
    """Handlers of SaslHandshake and SaslAuthenticate, for one connection at a time."""
    current: list[Dialogue] = []

    def shake_hands(body: Any, head: RequestHead) -> Answer:
        known = body.mechanism in dialogues
        if known:
            current[:] = [dialogues[body.mechanism]()]
            next(current[0])
        code = 0 if known else error_codes.UNSUPPORTED_SASL_MECHANISM
        return SaslHandshakeResponse(error_code=code, mechanisms=list(dialogues))

    def authenticate(body: Any, head: RequestHead) -> Answer:
        try:
            return SaslAuthenticateResponse(
                auth_bytes=current[0].send(bytes(body.auth_bytes)), session_lifetime_ms=lifetime_ms
            )
        except Denied:
            code = error_codes.SASL_AUTHENTICATION_FAILED
            return SaslAuthenticateResponse(error_code=code, error_message="Authentication failed: unknown user?")

    return {ApiKeys.SASL_HANDSHAKE: shake_hands, ApiKeys.SASL_AUTHENTICATE: authenticate}
