"""Who it may be that speaks another protocol: people connect with TLS, a browser or a health check, and see a frame of 1.2 GB refused."""

from __future__ import annotations

STRANGERS: tuple[tuple[bytes, str], ...] = (
    (
        b"\x16\x03",
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
"""How other protocols begin, and what to say of them. None of it can begin a request: as a length it is past any bound, or nearly."""


def guess(data: bytes) -> str:
    """What bytes at the start of a connection look like, as the end of a sentence; empty when nobody knows."""
    return next((f"; {said}" for start, said in STRANGERS if data.startswith(start)), "")
