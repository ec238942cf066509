"""The configurations that count for a topic or a group: its own, else what the broker's give, else the default.

Units are converted on the way (log.retention.hours gives retention.ms). A group's own value that the broker's bounds no longer allow
counts as the nearest that they do.
"""

from __future__ import annotations

from collections.abc import Mapping

from .definition import Config, Value
from .group import GROUP
from .group_rules import clamped
from .layers import Layers
from .own import TOPIC_HERE


def effective_topic_config(overrides: Mapping[str, str], layers: Layers) -> dict[str, Value]:
    """Every configuration of a topic by name, as a value."""
    found = dict(_topic_defaults(layers))
    for name, text in overrides.items():
        config = TOPIC_HERE.get(name)
        if config is not None:
            found[name] = config.parse(text)
    return found


def topic_value(config: Config, overrides: Mapping[str, str], layers: Layers) -> Value:
    """The value that counts for one configuration of a topic."""
    text = overrides.get(config.name)
    return config.parse(text) if text is not None else topic_default(config, layers)


def topic_default(config: Config, layers: Layers) -> Value:
    """What the broker's configurations give to a topic that does not set its own."""
    return _topic_defaults(layers)[config.name] if config.name in TOPIC_HERE else _topic_default(config, layers)


def _topic_defaults(layers: Layers) -> Mapping[str, Value]:
    """Those of all configurations: the same for every topic, so they are looked up once."""
    if layers.topic_defaults is None:
        layers.topic_defaults = {config.name: _topic_default(config, layers) for config in TOPIC_HERE}
    return layers.topic_defaults


def _topic_default(config: Config, layers: Layers) -> Value:
    for synonym, factor in config.synonyms:
        value = layers.value(synonym)
        if value is not None:
            return _converted(config, value, factor)
    return config.default_value()


def _converted(config: Config, value: Value, factor: int) -> Value:
    if config.name == "retention.ms" and isinstance(value, int):
        return max(value * factor, -1)  # any negative age of a broker means for ever
    return value * factor if factor != 1 and isinstance(value, int) else value


def effective_group_config(overrides: Mapping[str, str], layers: Layers) -> dict[str, Value]:
    """Every configuration of a group by name, as a value within the broker's bounds."""
    return {config.name: clamped(config.name, group_value(config, overrides, layers), layers) for config in GROUP}


def group_value(config: Config, overrides: Mapping[str, str], layers: Layers) -> Value:
    """The value that counts for one configuration of a group, bounds left alone."""
    text = overrides.get(config.name)
    if text is not None:
        return config.parse(text)
    if not config.synonyms:
        return config.default_value()
    value = layers.value(config.synonyms[0][0])
    if config.name == "streams.assignor.name" and isinstance(value, tuple):
        return value[0] if value else None  # the broker's first assignor is the default one
    return value
