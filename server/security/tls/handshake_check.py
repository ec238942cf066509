"""Whether brokers with certain settings can connect to one another by TLS: a handshake in memory.

Rules. Kafka tries this for the listener that brokers use among themselves, and for no other: at the
start with the settings themselves, and when they are altered between the old and the new ones, in
both directions, since brokers are altered one after another. Host names are not compared. What a
client needs of the certificates is what `ssl.client.auth` says.
"""

from __future__ import annotations

import ssl

from kafkadouble.wire.errors import UsageError

from ...configs.layers import Layers
from .contexts import client_context, server_context
from .key_stores import location_of
from .tls_settings import ListenerTlsSettings

MOST_TURNS = 20
"""A handshake takes three or four."""


def peer_context(settings: Layers, listener_name: str) -> ssl.SSLContext:
    """The context of another broker that connects to a listener. UsageError."""
    made = client_context(settings, listener_name)
    made.check_hostname = False
    return made


def check_own_trust(settings: Layers, listener_name: str) -> None:
    """UsageError if brokers that have these settings cannot connect to one another's listener."""
    server, client = server_context(settings, listener_name), peer_context(settings, listener_name)
    if problem := handshake_problem(server, client):
        given = ListenerTlsSettings(settings, listener_name)
        raise UsageError(
            f"{given.shown(location_of(given))}: other brokers with the same settings cannot connect: {problem}; "
            f"brokers use this listener among themselves, so ssl.truststore.location must trust its certificate"
        )


def handshake_problem(server: ssl.SSLContext, client: ssl.SSLContext) -> str:
    """Why a client with one context cannot connect to a server with the other, or ""."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    left = [client.wrap_bio(to_client, to_server), server.wrap_bio(to_server, to_client, server_side=True)]
    for _ in range(MOST_TURNS):
        for end in [*left]:
            try:
                end.do_handshake()
                left.remove(end)
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError as refused:
                return f"the certificate is refused: {refused.verify_message}"
            except ssl.SSLError as failed:
                return f"the handshake fails: {failed.reason or failed}"
        if not left:
            return ""
    return "the handshake does not end"
