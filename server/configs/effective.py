"""The effective configurations of a topic or a group: its own value, else the broker's, else the
default.

Units are converted: log.retention.hours gives retention.ms. A group's own value that is outside the
broker's present bounds is replaced by the nearest bound.
"""

from __future__ import annotations

from collections.abc import Mapping

from .definition import ConfigKey, Value
from .group import GROUP
from .group_rules import clamped
from .layers import Layers
from .own import TOPIC_HERE


def effective_topic_config(overrides: Mapping[str, str], layers: Layers) -> dict[str, Value]:
    """The value of every configuration of a topic, by name."""
    defaults = dict(_topic_defaults(layers))
    for name, text in overrides.items():
        config = TOPIC_HERE.get(name)
        if config is not None:
            defaults[name] = config.parse(text)
    return defaults


def topic_value(config: ConfigKey, overrides: Mapping[str, str], layers: Layers) -> Value:
    """The effective value of one configuration of a topic."""
    text = overrides.get(config.name)
    return config.parse(text) if text is not None else topic_default(config, layers)


def topic_default(config: ConfigKey, layers: Layers) -> Value:
    """The value of a topic that does not set this configuration: the broker's, else the default."""
    return _topic_defaults(layers)[config.name] if config.name in TOPIC_HERE else _topic_default(config, layers)


def _topic_defaults(layers: Layers) -> Mapping[str, Value]:
    """The defaults of all configurations. They are the same for every topic, so they are cached."""
    if layers.topic_defaults is None:
        layers.topic_defaults = {config.name: _topic_default(config, layers) for config in TOPIC_HERE}
    return layers.topic_defaults


def _topic_default(config: ConfigKey, layers: Layers) -> Value:
    for synonym, factor in config.synonyms:
        value = layers.value(synonym)
        if value is not None:
            if config.name == "retention.ms" and isinstance(value, int):
                return max(value * factor, -1)  # any negative age of a broker means no limit
            return value * factor if factor != 1 and isinstance(value, int) else value
    return config.default_value()


def effective_group_config(overrides: Mapping[str, str], layers: Layers) -> dict[str, Value]:
    """The value of every configuration of a group, by name, within the broker's bounds."""
    return {config.name: effective_group_value(config.name, overrides, layers) for config in GROUP}


def effective_group_value(name: str, overrides: Mapping[str, str], layers: Layers) -> Value:
    """The value of one configuration of a group, within the broker's bounds."""
    if overrides:
        return clamped(name, group_value(GROUP[name], overrides, layers), layers)
    if name not in layers.group_defaults:
        layers.group_defaults[name] = clamped(name, group_value(GROUP[name], {}, layers), layers)
    return layers.group_defaults[name]


def group_value(config: ConfigKey, overrides: Mapping[str, str], layers: Layers) -> Value:
    """The effective value of one configuration of a group, before the broker's bounds apply."""
    text = overrides.get(config.name)
    if text is not None:
        return config.parse(text)
    if not config.synonyms:
        return config.default_value()
    value = layers.value(config.synonyms[0][0])
    if config.name == "streams.assignor.name" and isinstance(value, tuple):
        return value[0] if value else None  # the broker's first assignor is the default one
    return value
