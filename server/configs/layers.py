"""Which value of a broker's configuration counts: its own dynamic, that of all brokers, the static, the default (KIP-226).

    own       this broker's dynamic configurations, altered at run time
    cluster   the dynamic configurations of all brokers
    static    what the node was started with

A configuration with several units (log.retention.ms, .minutes, .hours) is one: set in a higher layer, it is unset in those below. A
dynamic value that cannot be (written by another version, say) counts as not set.
"""

from __future__ import annotations

from collections.abc import Mapping

from .broker import BROKER, LISTENER_PREFIX, OWN, base_name, broker_config
from .definition import Config, InvalidConfig, Value

UNITS_OF_ONE = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
OF_A_FLUSH = ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")
"""The scheduler's interval is a configuration of its own too, so only the first is looked up under both names."""

OF_ALL_BROKERS = frozenset({"max.connections", "max.connection.creation.rate", "num.network.threads"})
"""What may be altered for one listener of all brokers at once; everything else of a listener belongs to one broker."""


def names_of_one(name: str) -> tuple[str, ...]:
    """All names under which a broker's configuration may be set, the one that counts first."""
    if name == OF_A_FLUSH[0]:
        return OF_A_FLUSH
    base = base_name(name)
    if base is not None:
        return name, base
    return next((names for names in UNITS_OF_ONE if name in names), (name,))


class Layers:
    """The configurations of one broker, layer over layer; texts as they were given."""

    __slots__ = ("_texts", "_values", "cluster", "own", "static", "topic_defaults")

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
        """What a topic has that sets nothing itself; kept by `effective.py`."""

    @property
    def texts(self) -> Mapping[str, str]:
        """What is set, by the layer that counts."""
        return self._texts

    def value(self, name: str) -> Value:
        """The value that counts. KeyError for a name that no table and no layer knows."""
        if name not in self._values:
            self._values[name] = self._value(name)
        return self._values[name]

    def _value(self, name: str) -> Value:
        config = broker_config(name)
        if name in self._texts:
            return config.parse(self._texts[name]) if config else self._texts[name]
        found = BROKER.get(name) or OWN[name]
        return found.default_value()


def merged(*layers: Mapping[str, str]) -> dict[str, str]:
    """One layer from several, the last one strongest."""
    texts = dict(layers[0])
    for layer in layers[1:]:
        for name, text in layer.items():
            for other in names_of_one(name) if not name.startswith(LISTENER_PREFIX) else ():
                texts.pop(other, None)
            texts[name] = text
    return texts


def usable(dynamic: Mapping[str, str], *, per_broker: bool) -> dict[str, str]:
    """The part of stored dynamic configurations that can count in this layer."""
    return {name: text for name, text in dynamic.items() if may_be_dynamic(name, per_broker) and _fits(name, text)}


def may_be_dynamic(name: str, per_broker: bool) -> bool:
    """Whether a name may be set at run time, for one broker or for all."""
    config = BROKER.get(name)
    if config is not None and config.mode in ("read-only", "per-listener"):
        return False
    return per_broker or not only_per_broker(name, config)


def only_per_broker(name: str, config: Config | None) -> bool:
    """Whether a name may be set for one broker only, and not for all brokers at once."""
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
