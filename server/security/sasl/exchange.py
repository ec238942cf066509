"""The exchange of messages of one SASL mechanism, on either side.

Rules. An exchange is a generator that sends nothing itself.
- The client's half yields the bytes to send, and is sent the bytes of the server. It ends when it
  trusts the server, and raises `ServerNotTrusted` otherwise.
- The server's half yields an empty response first, and is then sent the bytes of the client. It
  returns an `Authenticated`, or raises a `SaslFailure`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple


class Authenticated(NamedTuple):
    """The client has proved that it is the user `name`.

    `response` are the last bytes for the client. `expires_at` is when the credential ends (ms),
    None for one that does not. `by_token`: it was a delegation token.
    """

    name: str
    response: bytes = b""
    expires_at: int | None = None
    by_token: bool = False


ClientExchange = Generator[bytes, bytes, None]
ServerExchange = Generator[bytes, bytes, Authenticated]


class SaslFailure(Exception):
    """The client has not proved who it is.

    `message` is for the client. Without one, the client gets a text that is the same for every
    reason, so that it does not learn which users exist. `reason` is for the log, and contains
    nothing that the client sent; without one it is the message.
    """

    def __init__(self, message: str | None = None, *, reason: str | None = None) -> None:
        self.message, self.reason = message, reason or message or "invalid credentials"
        super().__init__(message or self.reason)


class ServerNotTrusted(Exception):
    """The messages of the server are no valid proof."""
