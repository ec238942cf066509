"""The settings of one node: Kafka's own, from a file of properties, from an application or from the
command line.

Later sources win: first the defaults of a double (`DOUBLE_DEFAULTS`), then the sources in their
order. A setting that Kafka does not know, or a value that it would refuse, is a UsageError that
names its place. Kafka ignores unknown settings of a file: `split_unknown` puts them aside, and
`Settings` keeps them, for DescribeConfigs. All of Kafka's settings are accepted; `without_effect`
lists those that change nothing here. This module reads no files: it gets their text.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping

from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.wording import AllowedValues, ShownValue

from .broker import BROKER, OWN, base_name, broker_config
from .definition import Value
from .layers import Layers, is_only_dynamic
from .properties import parse_properties

__all__ = ["DOUBLE_DEFAULTS", "Given", "Settings", "assignments", "parse_properties", "properties", "split_unknown"]

Given = tuple[str, str, str]
"""A setting: where it was given (for errors), its name, its text."""

ONE_NODE = "A cluster of one node has one replica of everything."
AT_ONCE = "A test has no use for waiting for members that will not come."

DOUBLE_DEFAULTS: dict[str, tuple[str, str]] = {
    "process.roles": ("broker,controller", "One node is the whole cluster."),
    "node.id": ("1", "Kafka has no default; 1 is what its own example has."),
    "controller.listener.names": ("CONTROLLER", "Kafka has no default; this is what its own example has."),
    "listeners": ("PLAINTEXT://127.0.0.1:0", "Any free port, out of reach for the rest of the network."),
    "offsets.topic.replication.factor": ("1", ONE_NODE),
    "transaction.state.log.replication.factor": ("1", ONE_NODE),
    "transaction.state.log.min.isr": ("1", ONE_NODE),
    "share.coordinator.state.topic.replication.factor": ("1", ONE_NODE),
    "share.coordinator.state.topic.min.isr": ("1", ONE_NODE),
    "group.initial.rebalance.delay.ms": ("0", AT_ONCE),
    "group.streams.initial.rebalance.delay.ms": ("0", AT_ONCE),
}
"""The defaults that differ from Kafka's, and why. DescribeConfigs shows them as static
configurations of the broker."""

OF_AUTHORIZER = ("super.users", "allow.everyone.if.no.acl.found")
"""Settings of Kafka's StandardAuthorizer."""

OF_PLUGINS = ("config.providers.", "rlmm.config.", "rsm.config.", "metrics.jmx.", *OF_AUTHORIZER)
"""Prefixes of settings that Kafka passes on to config providers, tiered storage, reporters and
authorizers."""


class Settings(Layers):
    """The settings of one node: by name, or by the getter of a type."""

    __slots__ = ("given", "unknown")

    def __init__(
        self, config: Mapping[str, object] | None = None, sources: Iterable[Given] = (), unknown: Iterable[Given] = ()
    ) -> None:
        """`config`: names and values, as texts or Python values; it comes after `sources`.
        `unknown`: settings that Kafka does not know, which change nothing.
        """
        given = [*sources, *(("config", name, as_text(value)) for name, value in (config or {}).items())]
        self.unknown = tuple(unknown)
        static = {name: text for name, (text, _) in DOUBLE_DEFAULTS.items()}
        static |= {name: text for _, name, text in self.unknown}
        for place, name, text in given:
            check(place, name, text)
            static[name] = text
        names = {name: place for place, name, _ in given}
        if "node.id" not in names and "broker.id" in names:
            static["node.id"] = static["broker.id"]
        static.setdefault("broker.id", static["node.id"])
        super().__init__(static)
        self.given = names
        """The source of each setting."""
        if given:
            self._check_together()

    def altered(self, cluster: Mapping[str, str], own: Mapping[str, str]) -> Settings:
        """The same node with these dynamic configurations: of all brokers, and its own."""
        other = Settings.__new__(Settings)
        Layers.__init__(other, self.static, cluster, own)
        other.given, other.unknown = self.given, self.unknown
        return other

    def of_node(self, node_id: builtins.int) -> Settings:
        """The same settings for the node of this id."""
        other = Settings.__new__(Settings)
        Layers.__init__(other, {**self.static, "node.id": str(node_id), "broker.id": str(node_id)})
        other.given, other.unknown = self.given, self.unknown
        return other

    def without_effect(self) -> builtins.list[str]:
        """The settings that were given, and that change nothing in this double."""
        return [name for name in self.given if self._has_no_effect(name)]

    def _has_no_effect(self, name: str) -> builtins.bool:
        from .without_effect import WITHOUT_EFFECT

        config = broker_config(name)
        if config is None:
            return name not in OF_AUTHORIZER or not self["authorizer.class.name"]
        return config.name in WITHOUT_EFFECT or is_only_dynamic(config)

    def _check_together(self) -> None:
        from .broker_rules import broken

        for name, problem in broken(self):
            raise UsageError(f"{self.given.get(name, name)}: {problem}")

    def __getitem__(self, name: str) -> Value:
        try:
            return self.value(name)
        except KeyError:
            raise UsageError(f"unknown setting {name!r}{near_miss(name)}") from None

    def text(self, name: str) -> str:
        """The text of a STRING, CLASS or PASSWORD."""
        value = self[name]
        if isinstance(value, str):
            return value
        raise self._wrong(name, "a text")

    def list(self, name: str) -> builtins.list[str]:
        """The elements of a LIST."""
        value = self[name]
        if isinstance(value, tuple):
            return [*value]
        raise self._wrong(name, "a list")

    def float(self, name: str) -> builtins.float:
        """The number of a DOUBLE."""
        value = self[name]
        if isinstance(value, builtins.float):
            return value
        raise self._wrong(name, "a number with a fraction")

    def bool(self, name: str) -> builtins.bool:
        """The truth of a BOOLEAN."""
        value = self[name]
        if isinstance(value, builtins.bool):
            return value
        raise self._wrong(name, "true or false")

    def int(self, name: str) -> builtins.int:
        """The number of an INT, SHORT or LONG."""
        value = self._values.get(name)
        if value.__class__ is builtins.int:  # as mostly
            return value
        value = self[name]
        if isinstance(value, builtins.int) and not isinstance(value, builtins.bool):
            return value
        raise self._wrong(name, "a whole number")

    def _wrong(self, name: str, expected: str) -> UsageError:
        return UsageError(f"{name} is {self[name]!r}, not {expected}")

    def __repr__(self) -> str:
        return f"settings of node {self.value('node.id')}, {len(self.given)} of them given"


def properties(text: str, file: str = "server.properties") -> list[Given]:
    """The settings of a file of properties."""
    return [(f"{file} line {number}", name, value) for number, name, value in parse_properties(text, file)]


def assignments(words: Iterable[str], option: str = "-c") -> list[Given]:
    """The settings of words such as `num.partitions=4`."""
    givens = []
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{option} {word}: a setting is given as name=value")
        givens.append((f"{option} {word}", name.strip(), text))
    return givens


def as_text(value: object) -> str:
    """A Python value as the text of a setting: true, 12, a,b."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(map(as_text, value))
    if isinstance(value, str | int | float):
        return str(value)
    allowed = AllowedValues("a text, a number, True, False or a list of them")
    raise UsageError("a setting is {allowed}, not {value}", allowed=allowed, value=ShownValue(value))


def check(place: str, name: str, text: str) -> None:
    """Refuses a setting that Kafka does not know, or a value that it would refuse."""
    config = broker_config(name)
    if is_only_dynamic(config):
        return
    if config is not None:
        try:
            config.parse(text)
        except UsageError as problem:
            raise UsageError(f"{place}: {problem}") from None
    elif is_unknown(name):
        raise UsageError(unknown_setting(place, name))


def is_unknown(name: str) -> bool:
    """Whether neither Kafka nor this double has a setting of this name."""
    return broker_config(name) is None and not name.startswith(OF_PLUGINS)


def split_unknown(given: Iterable[Given]) -> tuple[builtins.list[Given], builtins.list[Given]]:
    """The settings that are known, and those that are not."""
    known: builtins.list[Given] = []
    unknown: builtins.list[Given] = []
    for setting in given:
        (unknown if is_unknown(setting[1]) else known).append(setting)
    return known, unknown


def unknown_setting(place: str, name: str) -> str:
    """The sentence about a setting that is not known, with the nearest name."""
    return f"{place}: unknown setting {name!r}; Kafka 4.4 has none of this name{near_miss(name)}"


def near_miss(name: str) -> str:
    """The end of a sentence that suggests what may have been meant, or nothing."""
    # Reading settings that are right does not load it.
    from .did_you_mean import STRICT, nearest, suggestion

    prefix = name[: -len(base)] if (base := base_name(name)) else ""
    found = nearest(base or name, [config.name for table in (BROKER, OWN) for config in table], STRICT)
    return suggestion(None if found is None else prefix + found)
