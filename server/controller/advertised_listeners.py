"""The listeners that a node registers with: each has a name, a host, a port and a security protocol
that Kafka knows (KIP-631, KIP-919)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kafkadouble.messages import error_codes

from ..metadata.image import Endpoint
from ..requests.listener_spec import PROTOCOLS, ListenerSpec
from ..requests.request import Refusal


class RegisteredListener(Protocol):
    """A listener as a request has it."""

    name: str
    host: str
    port: int
    security_protocol: int


def endpoints_of(listeners: Iterable[ListenerSpec], first: str = "") -> list[Endpoint]:
    """The endpoints of a node's own advertised listeners, that of the listener `first` before the
    others."""
    found = [Endpoint(each.name, *each.advertised, each.protocol_id) for each in listeners if each.advertised]
    return sorted(found, key=lambda endpoint: endpoint.name != first)


def checked_endpoints(listeners: Iterable[RegisteredListener]) -> list[Endpoint]:
    """The endpoints by name: of two with one name the later counts. Refusal(UNKNOWN_SERVER_ERROR),
    as of Kafka, for one that cannot be."""
    endpoints: dict[str, Endpoint] = {}
    for listener in listeners:
        if not 0 <= listener.security_protocol < len(PROTOCOLS):
            raise _refused(f"Unknown security protocol {listener.security_protocol} in listener {listener.name}")
        endpoints[listener.name] = Endpoint(listener.name, listener.host, listener.port, listener.security_protocol)
    for endpoint in endpoints.values():
        if endpoint.port == 0:
            raise _refused("Cannot serialize ephemeral port 0 in ListenerInfo.")
        if not endpoint.host.strip():
            raise _refused("Cannot serialize empty host in ListenerInfo.")
    return [*endpoints.values()]


def _refused(message: str) -> Refusal:
    return Refusal(error_codes.UNKNOWN_SERVER_ERROR, message)
