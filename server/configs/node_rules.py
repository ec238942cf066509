"""Validates the settings of a whole node, as KafkaConfig does: the quorum, and which listeners each
role has.

Rules. They hold for settings that have `process.roles`, as a server.properties of Kafka must:
without it a node is the only one of a double, which needs no quorum. As in Kafka, the names in
`controller.listener.names` are compared in their case, and those of `listeners` are in capitals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError

from .listener_settings import of_listener
from .listeners import (
    ADVERTISED,
    LISTENERS,
    MAP,
    endpoints,
    inter_broker_listener_name,
    security_protocols,
    voter_addresses,
)
from .settings import Settings

ROLES, NODE_ID, NAMES = "process.roles", "node.id", "controller.listener.names"
VOTERS, BOOTSTRAP = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
AUTO_JOIN, INTER_BROKER_NAME = "controller.quorum.auto.join.enable", "inter.broker.listener.name"
CORDONED, LOG_DIRS = "cordoned.log.dirs", "log.dirs"
MECHANISM, MECHANISMS = "sasl.mechanism.inter.broker.protocol", "sasl.enabled.mechanisms"
BROKER, CONTROLLER = frozenset({"broker"}), frozenset({"controller"})
COMBINED = BROKER | CONTROLLER


class NodeFacts:
    """The settings that the rules check."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.roles = frozenset(settings.list(ROLES))
        self.id = settings.int(NODE_ID)
        self.voters = voter_addresses(settings)
        self.controllers = settings.list(NAMES)
        self.listeners = [endpoint.name for endpoint in endpoints(settings)]
        self.advertised = [endpoint.name for endpoint in endpoints(settings, ADVERTISED)]

    @property
    def of_controllers(self) -> list[str]:
        """The listeners of this node that are the controller's."""
        known = {name for name in (*self.listeners, *self.advertised) if name in self.controllers}
        return [name for name in self.controllers if name.upper() in known]

    @property
    def unmapped(self) -> list[str]:
        """The controllers' listeners that have no security protocol."""
        protocols = security_protocols(self.settings)
        return [name for name in self.controllers if name.upper() not in protocols]

    @property
    def log_dirs(self) -> list[str]:
        """The directories of partitions."""
        dirs = self.settings[LOG_DIRS] or self.settings["log.dir"]
        return [*dirs] if isinstance(dirs, tuple) else [str(dirs)]

    @property
    def cordoned(self) -> list[str]:
        """The cordoned directories that are not log directories; with `*` among others, these."""
        dirs = self.settings.list(CORDONED)
        if "*" in dirs:
            return [each for each in dirs if each != "*"]
        return [each for each in dirs if each not in self.log_dirs]

    @property
    def lacks_mechanism(self) -> bool:
        """Whether brokers log in by a mechanism that their listener does not have."""
        name = inter_broker_listener_name(self.settings)
        if not security_protocols(self.settings).get(name, name).startswith("SASL"):
            return False
        enabled = of_listener(self.settings, name, MECHANISMS)
        return self.settings[MECHANISM] not in (enabled if isinstance(enabled, tuple) else ())


class NodeRule(NamedTuple):
    """A rule for nodes with exactly one of these sets of roles: the setting at fault, whether a
    node breaks the rule, and the text about it."""

    roles: tuple[frozenset[str], ...]
    setting: str
    is_broken: Callable[[NodeFacts], object]
    text: Callable[[NodeFacts], str]


EVERY, WITH_BROKER, WITH_CONTROLLER = (BROKER, CONTROLLER, COMBINED), (BROKER, COMBINED), (CONTROLLER, COMBINED)

RULES = (
    NodeRule(
        EVERY,
        NODE_ID,
        lambda node: not {NODE_ID, "broker.id"} & node.settings.given.keys(),
        lambda _: f"{NODE_ID} is not set: with {ROLES} Kafka needs it, so give each node a number of its own",
    ),
    NodeRule(
        EVERY,
        NAMES,
        lambda node: NAMES not in node.settings.given,
        lambda _: f"{NAMES} is not set: with {ROLES} Kafka needs the name of the controllers' listener",
    ),
    NodeRule(
        EVERY,
        VOTERS,
        lambda node: not node.voters and not node.settings.list(BOOTSTRAP),
        lambda _: f"{VOTERS} and {BOOTSTRAP} are both empty: with {ROLES} one of them names the controllers",
    ),
    NodeRule(
        (BROKER,),
        VOTERS,
        lambda node: node.id in node.voters,
        lambda node: (
            f"node {node.id} is only a broker, and {VOTERS} has it among {_ids(node)}: give it another {NODE_ID}"
        ),
    ),
    NodeRule(
        (BROKER,),
        LISTENERS,
        lambda node: set(node.controllers) & set(node.listeners),
        lambda node: (
            f"a node that is only a broker has no listener of {NAMES}, {','.join(node.controllers)}: "
            f"leave it out of {LISTENERS}"
        ),
    ),
    NodeRule(
        (BROKER,),
        NAMES,
        lambda node: node.unmapped,
        lambda node: f"{MAP} has no protocol for the controllers' listener {','.join(node.unmapped)}: add it there",
    ),
    NodeRule(
        (BROKER,),
        AUTO_JOIN,
        lambda node: node.settings.bool(AUTO_JOIN),
        lambda _: f"{AUTO_JOIN} is for nodes with the role controller: a broker leaves it out",
    ),
    NodeRule(
        (CONTROLLER,),
        LISTENERS,
        lambda node: len(node.of_controllers) != len(node.listeners),
        lambda node: (
            f"a node that is only a controller has {','.join(node.listeners)} in {LISTENERS}: "
            f"all of them must be in {NAMES}, {','.join(node.controllers)}"
        ),
    ),
    NodeRule(
        (CONTROLLER,),
        INTER_BROKER_NAME,
        lambda node: node.settings[INTER_BROKER_NAME] and inter_broker_listener_name(node.settings) in node.controllers,
        lambda node: (
            f"{INTER_BROKER_NAME} is {inter_broker_listener_name(node.settings)}, a listener of controllers: "
            "leave it out, a controller needs none"
        ),
    ),
    NodeRule(
        WITH_CONTROLLER,
        VOTERS,
        lambda node: node.voters and node.id not in node.voters,
        lambda node: (
            f"node {node.id} is a controller, and {VOTERS} has only {_ids(node)}: add it, or give it one of these"
        ),
    ),
    NodeRule(
        WITH_CONTROLLER,
        NAMES,
        lambda node: not node.of_controllers or not set(node.controllers) <= set(node.listeners),
        lambda node: (
            f"{NAMES} is {','.join(node.controllers)}, and a controller opens each of them: {LISTENERS} has "
            f"{','.join(node.listeners)}, in capitals"
        ),
    ),
    NodeRule(
        WITH_BROKER,
        CORDONED,
        lambda node: node.cordoned,
        lambda node: (
            f"{CORDONED} has {','.join(node.cordoned)}: there may be the directories of {LOG_DIRS}, "
            f"{','.join(node.log_dirs)}, or * alone"
        ),
    ),
    NodeRule(
        EVERY,
        MECHANISM,
        lambda node: node.lacks_mechanism,
        lambda node: (
            f"{MECHANISM}: {node.settings[MECHANISM]} must be included in {MECHANISMS} when SASL is used for "
            "inter-broker communication"
        ),
    ),
)


def check_node(settings: Settings) -> None:
    """UsageError for settings of a node that Kafka refuses, with the place of the setting at
    fault."""
    if ROLES not in settings.given:
        return
    facts = NodeFacts(settings)
    for rule in RULES:
        if facts.roles in rule.roles and rule.is_broken(facts):
            place = settings.given.get(rule.setting, settings.given[ROLES])
            raise UsageError(f"{place}: {rule.text(facts)}")


def _ids(node: NodeFacts) -> str:
    return ",".join(map(str, node.voters))
