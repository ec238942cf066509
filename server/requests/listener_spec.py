"""A listener as a value: its name and protocol, its addresses, and what it serves.

    name               of Kafka's settings, in capitals: PLAINTEXT, INTERNAL, CONTROLLER
    security_protocol  one of `listener.security.protocol.map`
    bind               host and port of its socket; None without a socket
    advertised         host and port that other machines are given; None if none are
    apis               what it serves: the table of brokers or that of controllers

Rules. A node has a tuple of them, made from its settings (`configs/listener_specs.py`). An
advertised host that is empty, and an advertised port 0, stand for what the socket was bound to, as
in Kafka's ListenerInfo.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkadouble.messages.api_keys import ApiKeys

from ..apis.row import ServedApi

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
"""Kafka's security protocols; the index is the number that registrations have."""

WITH_TLS = ("SSL", "SASL_SSL")
"""The security protocols with TLS."""

WITH_SASL = ("SASL_PLAINTEXT", "SASL_SSL")
"""The security protocols with SASL."""

Address = tuple[str, int]
"""Host and port."""

AS_BOUND: Address = "", 0

LOOPBACK = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses that cannot be connected to, and how this machine reaches a socket that is bound to
them."""


class ListenerSpec(NamedTuple):
    """One listener of a node."""

    name: str
    security_protocol: str
    bind: Address | None
    advertised: Address | None
    apis: Mapping[int, ServedApi]

    @property
    def is_of_controllers(self) -> bool:
        """Whether it serves the controllers' table: only that has Envelope."""
        return ApiKeys.ENVELOPE in self.apis

    @property
    def has_tls(self) -> bool:
        """Whether its connections are encrypted."""
        return self.security_protocol in WITH_TLS

    @property
    def has_sasl(self) -> bool:
        """Whether its clients authenticate by SASL."""
        return self.security_protocol in WITH_SASL

    @property
    def protocol_id(self) -> int:
        """The number of its security protocol."""
        return PROTOCOLS.index(self.security_protocol)

    def bound_at(self, address: Address) -> ListenerSpec:
        """The same listener with the address that its socket got."""
        if self.advertised is None:
            return self._replace(bind=address)
        host, port = self.advertised
        reached = LOOPBACK.get(address[0], address[0])
        return self._replace(bind=address, advertised=(host or reached, port or address[1]))

    def __repr__(self) -> str:
        host, port = self.advertised or self.bind or AS_BOUND
        return f"{self.name}://{host}:{port}"


def of_brokers(listeners: Iterable[ListenerSpec]) -> list[ListenerSpec]:
    """The listeners for clients and other brokers."""
    return [listener for listener in listeners if not listener.is_of_controllers]


def of_controllers(listeners: Iterable[ListenerSpec]) -> list[ListenerSpec]:
    """The listeners for nodes and clients that speak to the controller."""
    return [listener for listener in listeners if listener.is_of_controllers]
