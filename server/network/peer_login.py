"""The login of this node on a connection to another node: SaslHandshake, then SaslAuthenticate
(KIP-43, KIP-152, KIP-368).

Rules. A refusal is a BadPeer, so that the connection is tried again after a backoff. A session that
ends is not renewed: before its end the connection is replaced by another.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafkadouble.wire.errors import UsageError

from ..configs.settings import Settings
from ..security.sasl.exchange import ServerNotTrusted
from ..security.sasl.node_login import NodeLogin, node_login
from .peer_connection import BadPeer, PeerConnection

HANDSHAKE_VERSION, AUTHENTICATE_VERSION = 1, 2

RENEWED_AFTER = 0.85
"""The part of a session's lifetime after which a new connection is made; Kafka's nodes authenticate
again then at the earliest."""


def login_to(settings: Settings, listener: str, is_to_controllers: bool) -> Callable[[PeerConnection], Awaitable[None]]:
    """What logs in on new connections to this listener. UsageError for settings that cannot be."""
    login = node_login(settings, listener, to_controllers=is_to_controllers)

    async def log_in(connection: PeerConnection) -> None:
        await _log_in(connection, login)

    return log_in


async def _log_in(connection: PeerConnection, login: NodeLogin) -> None:
    shaken = await connection.ask(SaslHandshakeRequest(mechanism=login.mechanism), HANDSHAKE_VERSION, HANDSHAKE_VERSION)
    if not isinstance(shaken, SaslHandshakeResponse):
        raise BadPeer("it serves no SaslHandshake from version 1 on")
    if shaken.error_code:
        raise BadPeer(f"it takes no {login.mechanism}: {error_codes.name(shaken.error_code)}")
    lifetime_ms = 0
    try:
        exchange = login.begin(time.time())
        message = next(exchange)
        while True:
            answer = await connection.ask(SaslAuthenticateRequest(auth_bytes=message), AUTHENTICATE_VERSION)
            if not isinstance(answer, SaslAuthenticateResponse):
                raise BadPeer("it serves no SaslAuthenticate")
            if answer.error_code:
                why = answer.error_message or error_codes.name(answer.error_code)
                raise BadPeer(f"it refuses the {login!r}: {why}")
            lifetime_ms = answer.session_lifetime_ms
            message = exchange.send(bytes(answer.auth_bytes))
    except StopIteration:
        if lifetime_ms > 0:
            connection.close_after(RENEWED_AFTER * lifetime_ms / 1000)
    except (ServerNotTrusted, UsageError) as problem:
        raise BadPeer(f"the {login!r} fails: {problem}") from None
