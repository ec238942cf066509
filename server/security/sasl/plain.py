"""PLAIN: the client sends its name and its password (RFC 4616, KIP-43).

Rules. The server compares a password in a time that depends neither on the password nor on whether
the user exists. A message that is not complete is refused in Kafka's words.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from .exchange import Authenticated, ClientExchange, SaslFailure, ServerExchange

WRONG = "Authentication failed: Invalid username or password"
OTHER_AUTHORIZATION_ID = "Authentication failed: Client requested an authorization id that is different from username"
TOKENS = 3
USER_OPTION = "user_"
"""The option of the login module that has the password of a user: `user_alice="secret"`."""


def users_of(options: Mapping[str, str]) -> dict[str, str]:
    """The users and their passwords in the options of the login module."""
    return {name.removeprefix(USER_OPTION): text for name, text in options.items() if name.startswith(USER_OPTION)}


def client_exchange(name: str, password: str) -> ClientExchange:
    """The messages of the client: there is one."""
    yield f"\0{name}\0{password}".encode()


def server_exchange(users: Mapping[str, str]) -> ServerExchange:
    """The server's half, for users with their passwords."""
    message = (yield b"").decode("utf-8", "replace")
    tokens = message.split("\0", TOKENS)
    if len(tokens) != TOKENS:
        raise SaslFailure(f"Invalid SASL/PLAIN response: expected {TOKENS} tokens, got {len(tokens)}")
    authorization_id, name, password = tokens
    if not name:
        raise SaslFailure("Authentication failed: username not specified")
    if not password:
        raise SaslFailure("Authentication failed: password not specified")
    is_same = hmac.compare_digest(_digest(password), _digest(users.get(name, "")))
    if not (is_same and name in users):
        raise SaslFailure(WRONG)
    if authorization_id not in ("", name):
        raise SaslFailure(OTHER_AUTHORIZATION_ID)
    return Authenticated(name)


def _digest(password: str) -> bytes:
    return hashlib.sha256(password.encode()).digest()
