"""How this node secures its connections to other nodes: TLS, and a login by SASL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .peer_connection import PeerConnection


class PeerSecurity(NamedTuple):
    """`context` is that of TLS, None without it. `login` is called with each new connection, after
    ApiVersions."""

    context: object | None = None
    login: Callable[[PeerConnection], Awaitable[None]] | None = None


PLAINTEXT = PeerSecurity()
