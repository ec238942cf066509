"""DescribeConfigs without the wire: the entries of a topic, a broker, all brokers, a group or a
client metrics subscription.

The synonyms of an entry are all sources that could give its value, in order of precedence
(KIP-226). As in Kafka, a source without a value is not listed, and the list begins with the first
name of the configuration. So retention.ms has no synonyms and is a default when log.retention.hours
gives its default. A sensitive value is always null; a name that is in no table is sensitive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from itertools import dropwhile
from typing import NamedTuple

from .broker import BROKER, broker_config
from .client_metrics import CLIENT_METRICS
from .definition import ConfigKey, ConfigType, format_value
from .effective import group_value, topic_value
from .group import GROUP
from .layers import Layers, names_of_one
from .own import TOPIC_HERE


class ConfigSource(IntEnum):
    """The source of a value; the numbers are those of DescribeConfigs."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class ConfigSynonym(NamedTuple):
    """One source that could give an entry's value."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """One configuration in the response of DescribeConfigs or CreateTopics."""

    name: str
    value: str | None
    source: ConfigSource
    read_only: bool
    sensitive: bool
    type: ConfigType
    synonyms: tuple[ConfigSynonym, ...]
    documentation: str | None

    @property
    def is_default(self) -> bool:
        """Whether it is set nowhere."""
        return self.source is ConfigSource.DEFAULT


def describe_topic(overrides: Mapping[str, str], layers: Layers) -> list[ConfigEntry]:
    """The entries of a topic; `overrides` are its own configurations."""
    return [
        _entry(config, format_value(topic_value(config, overrides, layers)), _topic_synonyms(config, overrides, layers))
        for config in TOPIC_HERE
        if not config.internal or config.name in overrides
    ]


def describe_new_topic(overrides: Mapping[str, str], layers: Layers) -> list[ConfigEntry]:
    """The entries in the response of CreateTopics, sorted by name.

    They have no synonyms, and a value that was converted from another unit has its source.
    """
    entries = [_new_topic_entry(config, overrides, layers) for config in TOPIC_HERE]
    return sorted(entry for entry in entries if entry.name in overrides or not TOPIC_HERE[entry.name].internal)


def describe_broker(layers: Layers) -> list[ConfigEntry]:
    """The entries of one broker: every configuration, and every other name that is set."""
    listed = [config for config in BROKER if not config.internal and config.mode != "dynamic-only"]
    entries = [_broker_entry(config.name, format_value(layers.value(config.name)), layers) for config in listed]
    names = {config.name for config in listed}
    return entries + [_broker_entry(name, text, layers) for name, text in layers.texts.items() if name not in names]


def describe_all_brokers(layers: Layers) -> list[ConfigEntry]:
    """The entries of the resource of all brokers: only what is set for all of them."""
    of_all = ConfigSource.DYNAMIC_DEFAULT_BROKER
    entries = [_broker_entry(name, text, layers) for name, text in layers.cluster.items()]
    return [
        entry._replace(source=of_all, synonyms=tuple(synonym for synonym in entry.synonyms if synonym.source is of_all))
        for entry in entries
    ]


def describe_group(overrides: Mapping[str, str], layers: Layers) -> list[ConfigEntry]:
    """The entries of a group; `overrides` are its own configurations."""
    return [
        _entry(config, format_value(group_value(config, overrides, layers)), _group_synonyms(config, overrides, layers))
        for config in GROUP
        if not config.internal or config.name in overrides or config.synonyms[0][0] in layers.texts
    ]


def describe_client_metrics(overrides: Mapping[str, str]) -> list[ConfigEntry]:
    """The entries of a client metrics subscription."""
    entries = []
    for config in CLIENT_METRICS:
        own = config.name in overrides
        value = format_value(config.parse(overrides[config.name]) if own else config.default_value())
        entries.append(
            _entry(config, value, [ConfigSynonym(config.name, value, ConfigSource.CLIENT_METRICS)] if own else [])
        )
    return entries


def answered(
    entries: Iterable[ConfigEntry],
    names: Iterable[str] | None = None,
    *,
    synonyms: bool = False,
    documentation: bool = False,
) -> list[ConfigEntry]:
    """The part of the entries that a request asks for.

    `names` are the names asked for; None or empty means all. Loggers have no documentation; they
    have an empty text with and without `documentation`.
    """
    requested = frozenset(names or ())
    return [
        entry._replace(
            synonyms=entry.synonyms if synonyms else (),
            documentation=entry.documentation if documentation or entry.documentation == "" else None,
        )
        for entry in entries
        if not requested or entry.name in requested
    ]


def _entry(config: ConfigKey, value: str | None, synonyms: Iterable[ConfigSynonym]) -> ConfigEntry:
    places = tuple(synonyms)
    source = places[0].source if places else ConfigSource.DEFAULT
    return ConfigEntry(config.name, value, source, False, False, config.type, places, config.doc)


def _broker_entry(name: str, value: str | None, layers: Layers) -> ConfigEntry:
    config, own = broker_config(name), BROKER.get(name)
    sensitive = config is None or config.sensitive
    places = tuple(_broker_synonyms(name, sensitive, layers))
    return ConfigEntry(
        name,
        None if sensitive else value,
        places[0].source if places else ConfigSource.DEFAULT,
        own is None or own.mode == "read-only",
        sensitive,
        config.type if config else ConfigType.UNKNOWN,
        places,
        config.doc if config else None,
    )


def _broker_synonyms(name: str, sensitive: bool, layers: Layers) -> Iterator[ConfigSynonym]:
    places: list[tuple[ConfigSource, Callable[[str], str | None]]] = [
        (ConfigSource.DYNAMIC_BROKER, layers.own.get),
        (ConfigSource.DYNAMIC_DEFAULT_BROKER, layers.cluster.get),
        (ConfigSource.STATIC_BROKER, layers.static.get),
        (ConfigSource.DEFAULT, _default_text),
    ]
    names = names_of_one(name)
    found = ((other, text(other), source) for source, text in places for other in names)
    given = (
        ConfigSynonym(other, None if sensitive else text, source) for other, text, source in found if text is not None
    )
    return dropwhile(lambda synonym: synonym.name != name, given)


def _default_text(name: str) -> str | None:
    config = BROKER.get(name)
    return config.default if config is not None and config.mode != "dynamic-only" else None


def _topic_synonyms(config: ConfigKey, overrides: Mapping[str, str], layers: Layers) -> Iterator[ConfigSynonym]:
    if config.name in overrides:
        yield ConfigSynonym(config.name, format_value(config.parse(overrides[config.name])), ConfigSource.TOPIC)
    if config.synonyms:
        yield from _broker_synonyms(config.synonyms[0][0], False, layers)


def _group_synonyms(config: ConfigKey, overrides: Mapping[str, str], layers: Layers) -> Iterator[ConfigSynonym]:
    if config.name in overrides:
        yield ConfigSynonym(config.name, format_value(config.parse(overrides[config.name])), ConfigSource.GROUP)
    if config.synonyms:
        yield from _broker_synonyms(config.synonyms[0][0], False, layers)
    elif config.default is not None:
        yield ConfigSynonym(config.name, config.default, ConfigSource.DEFAULT)


def _new_topic_entry(config: ConfigKey, overrides: Mapping[str, str], layers: Layers) -> ConfigEntry:
    places = [(ConfigSource.DYNAMIC_BROKER, layers.own), (ConfigSource.DYNAMIC_DEFAULT_BROKER, layers.cluster)]
    given = [(overrides[config.name], 1, ConfigSource.TOPIC)] if config.name in overrides else []
    for source, layer in [*places, (ConfigSource.STATIC_BROKER, layers.static)]:
        given += [(layer[name], factor, source) for name, factor in config.synonyms if name in layer]
    text, factor, source = given[0] if given else (config.default, 1, ConfigSource.DEFAULT)
    value = text if factor == 1 or text is None else str(int(text) * factor)
    return _entry(config, value, ())._replace(source=source)
