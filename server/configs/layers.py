"""The layers of a broker's configurations. The first that has a value decides (KIP-226):

    own       the dynamic configurations of this broker, altered at run time
    cluster   the dynamic configurations of all brokers
    static    the properties with which the node was started
    default   the default of the row

A configuration with several units (log.retention.ms, .minutes, .hours) is one configuration: a
value in a higher layer hides those below, in every unit. A dynamic value that is not valid, for
example because another version wrote it, is ignored. A configuration that is only dynamic ignores
the properties, whatever they say of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from .broker import BROKER, LISTENER_PREFIX, OWN, base_name, broker_config
from .definition import ConfigKey, InvalidConfig, Value

UNITS_OF_ONE = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
OF_A_FLUSH = ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")
"""The scheduler's interval is also a configuration of its own, so only the first has both names."""

OF_ALL_BROKERS = frozenset({"max.connections", "max.connection.creation.rate", "num.network.threads"})
"""The configurations that may be altered for one listener on all brokers at once. All others of a
listener are altered for one broker.
"""


def names_of_one(name: str) -> tuple[str, ...]:
    """All names under which a broker's configuration may be set, in order of precedence."""
    if name == OF_A_FLUSH[0]:
        return OF_A_FLUSH
    base = base_name(name)
    if base is not None:
        return name, base
    return next((names for names in UNITS_OF_ONE if name in names), (name,))


class Layers:
    """The configurations of one broker in layers, as texts."""

    __slots__ = ("_texts", "_values", "cluster", "group_defaults", "own", "static", "topic_defaults")

    def __init__(
        self,
        static: Mapping[str, str],
        cluster: Mapping[str, str] | None = None,
        own: Mapping[str, str] | None = None,
    ) -> None:
        self.static = static
        self.cluster = usable(cluster, per_broker=False) if cluster else {}
        self.own = usable(own, per_broker=True) if own else {}
        self._texts = merged(static, self.cluster, self.own)
        self._values: dict[str, Value] = {}
        self.topic_defaults: dict[str, Value] | None = None
        """The values of a topic that sets nothing, cached by `effective.py`."""
        self.group_defaults: dict[str, Value] = {}
        """The values of a group that sets nothing, cached by `effective.py`."""

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts that are set, each from the highest layer that has it."""
        return self._texts

    def value(self, name: str) -> Value:
        """The effective value. KeyError for a name that is in no table and in no layer."""
        if name not in self._values:
            self._values[name] = self._value(name)
        return self._values[name]

    def _value(self, name: str) -> Value:
        config = broker_config(name)
        if name in self._texts and (name in self.own or name in self.cluster or not is_only_dynamic(config)):
            return config.parse(self._texts[name]) if config else self._texts[name]
        found = BROKER.get(name) or OWN[name]
        return found.default_value()


def merged(*layers: Mapping[str, str]) -> dict[str, str]:
    """Merges layers into one; the last has precedence."""
    texts = dict(layers[0])
    for layer in layers[1:]:
        for name, text in layer.items():
            for other in names_of_one(name) if not name.startswith(LISTENER_PREFIX) else ():
                texts.pop(other, None)
            texts[name] = text
    return texts


def usable(dynamic: Mapping[str, str], *, per_broker: bool) -> dict[str, str]:
    """The stored dynamic configurations that are valid in this layer."""
    return {name: text for name, text in dynamic.items() if may_be_dynamic(name, per_broker) and _fits(name, text)}


def is_only_dynamic(config: ConfigKey | None) -> bool:
    """Whether a configuration has no effect in the properties of a node."""
    return config is not None and config.mode == "dynamic-only"


def may_be_dynamic(name: str, per_broker: bool) -> bool:
    """Whether a configuration may be set at run time, for one broker or for all."""
    config = BROKER.get(name)
    if config is not None and config.mode in ("read-only", "per-listener"):
        return False
    return per_broker or not only_per_broker(name, config)


def only_per_broker(name: str, config: ConfigKey | None) -> bool:
    """Whether a configuration may be set for one broker only, not for all brokers at once."""
    if config is not None:
        return config.mode in ("per-broker", "per-listener")
    base = name.removeprefix(LISTENER_PREFIX).partition(".")[2]
    return base_name(name) is not None and base not in OF_ALL_BROKERS


def _fits(name: str, text: str) -> bool:
    config = broker_config(name)
    try:
        if config is not None:
            config.parse(text, strict=True)
    except InvalidConfig:
        return False
    return True
