"""The login of a node towards other nodes: its mechanism, and its credentials on the listener of
the brokers or of the controllers (KIP-85; Kafka's SaslClientAuthenticator).

The mechanism is `sasl.mechanism.inter.broker.protocol` among brokers, and
`sasl.mechanism.controller.protocol` towards controllers. The credentials are `username` and
`password` of the same `sasl.jaas.config` that has the users of the listener.
"""

from __future__ import annotations

from collections.abc import Callable

from ...configs.layers import Layers
from ...configs.listener_settings import of_listener
from .exchange import ClientExchange
from .jaas import Login
from .listener_mechanisms import INTER_BROKER, login_of
from .mechanisms import mechanism_named

CONTROLLER = "sasl.mechanism.controller.protocol"


class NodeLogin:
    """How this node authenticates. `begin` starts the exchange of a new connection."""

    def __init__(self, mechanism: str, login: Login, client: Callable[..., ClientExchange]) -> None:
        self.mechanism, self._login, self._client = mechanism, login, client

    def begin(self, now_s: float) -> ClientExchange:
        """The client's half, at a time in seconds. UsageError without credentials."""
        return self._client(self._login.options, now_s)

    def __repr__(self) -> str:
        return f"login by {self.mechanism}"


def node_login(settings: Layers, listener: str, *, to_controllers: bool) -> NodeLogin:
    """The login of a node on this listener. UsageError for settings that cannot be."""
    setting = CONTROLLER if to_controllers else INTER_BROKER
    name = str(settings.value(setting) if to_controllers else of_listener(settings, listener, setting))
    mechanism = mechanism_named(name, setting)
    login = login_of(settings, listener, name, mechanism)
    return NodeLogin(name, login, mechanism.client)
