"""The settings of the nodes of a cluster in one process: what the user gave, over defaults that follow the number of brokers, under what makes
each node what it is."""

from __future__ import annotations

from kafkadouble.server.configs.settings import Given, Settings

from .errors import UsageError
from .listening import text_of

MOST_REPLICAS, MOST_IN_SYNC = 3, 2
"""Of internal topics, by Kafka's defaults."""

OWN = (
    "node.id",
    "broker.id",
    "process.roles",
    "listeners",
    "advertised.listeners",
    "controller.listener.names",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
)
"""What several nodes cannot all be given."""

REPLICATED = (
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "share.coordinator.state.topic.replication.factor",
)
IN_SYNC = ("transaction.state.log.min.isr", "share.coordinator.state.topic.min.isr")


def of_broker(settings: Settings, id: int, brokers: int, controller: tuple[str, int]) -> Settings:
    """Those of one broker of so many, whose controller is there."""
    own = {"process.roles": "broker", "controller.quorum.bootstrap.servers": text_of(*controller)}
    return _of(settings, brokers, {"node.id": id, **own, "listeners": "PLAINTEXT://127.0.0.1:0"})


def of_controller(settings: Settings, brokers: int) -> Settings:
    """Those of the controller of so many brokers."""
    own = {"process.roles": "controller", "listeners": "CONTROLLER://127.0.0.1:0"}
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
    return Settings(own, sources=[*defaults, *given])
