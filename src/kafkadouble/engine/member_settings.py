"""The settings of the nodes of a cluster in one process.

Settings of the user have precedence over defaults that depend on the number of brokers; settings
that identify a node have precedence over both. Listeners that the user gave are those of the first
broker: the next have the ports after those, or any where the port is 0.
"""

from __future__ import annotations

from kafkadouble.common.errors import UsageError
from kafkadouble.common.listening import text_of
from kafkadouble.server.configs.listeners import (
    ADVERTISED,
    LISTENERS,
    MAP,
    controller_listener_names,
    endpoints,
    security_protocols,
)
from kafkadouble.server.configs.settings import DOUBLE_DEFAULTS, Given, Settings
from kafkadouble.server.requests.listener_spec import PROTOCOLS

MOST_REPLICAS, MOST_IN_SYNC = 3, 2
"""Of internal topics, by Kafka's defaults."""

OWN = (
    "node.id",
    "broker.id",
    "process.roles",
    "controller.listener.names",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
)
"""The settings that several nodes cannot share."""

REPLICATED = (
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "share.coordinator.state.topic.replication.factor",
)
IN_SYNC = ("transaction.state.log.min.isr", "share.coordinator.state.topic.min.isr")


def of_broker(settings: Settings, id: int, brokers: int, controller: tuple[str, int]) -> Settings:
    """The settings of broker `id` in a cluster of this size with this controller."""
    own = {"process.roles": "broker", "controller.quorum.bootstrap.servers": text_of(*controller)}
    own[LISTENERS] = DOUBLE_DEFAULTS[LISTENERS][0]
    given = {name: _listeners_of(settings, name, id - 1) for name in (LISTENERS, ADVERTISED) if name in settings.given}
    return _of(settings, brokers, {"node.id": id, **own, **given})


def _listeners_of(settings: Settings, setting: str, number: int) -> str:
    """The listeners of the broker with this number, from 0 on."""
    controllers = controller_listener_names(settings)
    found = [endpoint for endpoint in endpoints(settings, setting) if endpoint.name not in controllers]
    return ",".join(f"{name}://{text_of(host, port and port + number)}" for name, host, port in found)


def of_controller(settings: Settings, brokers: int) -> Settings:
    """The settings of the controller of a cluster of this size."""
    [name] = controller_listener_names(settings)
    own = {"process.roles": "controller", LISTENERS: f"{name}://127.0.0.1:0"}
    if name not in security_protocols(settings):
        own[MAP] = f"{settings.text(MAP)},{name}:{PROTOCOLS[0]}"
    return _of(settings, brokers, {"node.id": brokers + 1, **own})


def check(settings: Settings) -> None:
    """UsageError for a setting that belongs to a single node."""
    for name in OWN:
        if name in settings.given:
            raise UsageError(f"{settings.given[name]}: {name} is that of one node: every node of a cluster has its own")


def _of(settings: Settings, brokers: int, own: dict[str, object]) -> Settings:
    defaults: list[Given] = [("default", name, str(min(MOST_REPLICAS, brokers))) for name in REPLICATED]
    defaults += [("default", name, str(min(MOST_IN_SYNC, brokers))) for name in IN_SYNC]
    given = [(place, name, settings.static[name]) for name, place in settings.given.items()]
    return Settings(own, sources=[*defaults, *given], unknown=settings.unknown)
