"""The listeners that a node registers with: each has a name, a host, a port and a security protocol that Kafka knows (KIP-631, KIP-919)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kafkadouble.messages import error_codes

from ..metadata.image import Endpoint
from ..requests.request import Refusal

PROTOCOLS = range(4)
"""PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL."""


class Listener(Protocol):
    """A listener as a request has it."""

    name: str
    host: str
    port: int
    security_protocol: int


def checked_endpoints(listeners: Iterable[Listener]) -> list[Endpoint]:
    """The endpoints by name: of two with one name the later counts. Refusal(UNKNOWN_SERVER_ERROR), as of Kafka, for one that cannot be."""
    found: dict[str, Endpoint] = {}
    for listener in listeners:
        if listener.security_protocol not in PROTOCOLS:
            raise _refused(f"Unknown security protocol {listener.security_protocol} in listener {listener.name}")
        found[listener.name] = Endpoint(listener.name, listener.host, listener.port, listener.security_protocol)
    for endpoint in found.values():
        if endpoint.port == 0:
            raise _refused("Cannot serialize ephemeral port 0 in ListenerInfo.")
        if not endpoint.host.strip():
            raise _refused("Cannot serialize empty host in ListenerInfo.")
    return [*found.values()]


def _refused(said: str) -> Refusal:
    return Refusal(error_codes.UNKNOWN_SERVER_ERROR, said)
