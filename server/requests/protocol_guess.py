"""Guesses which other protocol a client speaks, from its first bytes.

A client with TLS, a browser or a health check would otherwise see that a frame of 1.2 GB is
refused.
"""

from __future__ import annotations

TLS = b"\x16\x03"
"""What a handshake of TLS begins with."""

STRANGERS: tuple[tuple[bytes, str], ...] = (
    (
        TLS,
        "this looks like TLS, which this listener does not speak (security.protocol=SSL or SASL_SSL in the client?)",
    ),
    (b"GET ", "this looks like HTTP, and Kafka's protocol is another"),
    (b"HEAD", "this looks like HTTP, and Kafka's protocol is another"),
    (b"POST", "this looks like HTTP, and Kafka's protocol is another"),
    (b"PUT ", "this looks like HTTP, and Kafka's protocol is another"),
    (b"OPTIONS", "this looks like HTTP, and Kafka's protocol is another"),
    (b"CONNECT", "this looks like HTTP, and Kafka's protocol is another"),
    (b"PRI * HTTP/2", "this looks like HTTP/2, and Kafka's protocol is another"),
    (b"SSH-", "this looks like SSH, and Kafka's protocol is another"),
    (b"PROXY ", "this looks like a PROXY header, as load balancers can send it, which Kafka does not read"),
    (
        b"\r\n\r\n\0\r\nQUIT\n",
        "this looks like a PROXY header, as load balancers can send it, which Kafka does not read",
    ),
)
"""The first bytes of other protocols, and the message for each. As the length of a frame these
bytes are above any bound or close to it, so that no request begins with them.
"""


def is_tls(data: bytes) -> bool:
    """Whether the first bytes of a connection are those of TLS."""
    return data.startswith(TLS[: len(data)])


def guess(data: bytes) -> str:
    """The guess for the first bytes of a connection, as the end of a sentence; "" for no guess."""
    return next((f"; {text}" for start, text in STRANGERS if data.startswith(start)), "")
