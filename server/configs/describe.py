"""DescribeConfigs without the wire: the entries of a topic, a broker, all brokers, a group or a client metrics subscription.

An entry's synonyms are every place where its value could have come from, the one that counts first (KIP-226). Two habits of Kafka are
kept: a place without a value is not listed, and the list begins with the configuration's first name, so that retention.ms, which its
default takes from log.retention.hours, has no synonyms and counts as a default. A sensitive value is null wherever it stands; a name
that no table knows is sensitive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from itertools import dropwhile
from typing import NamedTuple

from .broker import BROKER, broker_config
from .client_metrics import CLIENT_METRICS
from .definition import Config, Type, format_value
from .effective import group_value, topic_value
from .group import GROUP
from .layers import Layers, names_of_one
from .own import TOPIC_HERE


class Source(IntEnum):
    """Where a value comes from; the numbers are those of DescribeConfigs."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class Synonym(NamedTuple):
    """One place that an entry's value could come from."""

    name: str
    value: str | None
    source: Source


class Entry(NamedTuple):
    """One configuration as DescribeConfigs and CreateTopics answer it."""

    name: str
    value: str | None
    source: Source
    read_only: bool
    sensitive: bool
    type: Type
    synonyms: tuple[Synonym, ...]
    documentation: str | None

    @property
    def is_default(self) -> bool:
        """Whether nobody has set it."""
        return self.source is Source.DEFAULT


def describe_topic(overrides: Mapping[str, str], layers: Layers) -> list[Entry]:
    """The entries of a topic with these configurations of its own."""
    return [
        _entry(config, format_value(topic_value(config, overrides, layers)), _topic_synonyms(config, overrides, layers))
        for config in TOPIC_HERE
        if not config.internal or config.name in overrides
    ]


def describe_new_topic(overrides: Mapping[str, str], layers: Layers) -> list[Entry]:
    """The entries of CreateTopics' answer, by name: no synonyms, and the source of a converted value is told."""
    entries = [_new_topic_entry(config, overrides, layers) for config in TOPIC_HERE]
    return sorted(entry for entry in entries if entry.name in overrides or not TOPIC_HERE[entry.name].internal)


def describe_broker(layers: Layers) -> list[Entry]:
    """The entries of one broker: every configuration, and whatever else is set."""
    listed = [config for config in BROKER if not config.internal and config.mode != "dynamic-only"]
    entries = [_broker_entry(config.name, format_value(layers.value(config.name)), layers) for config in listed]
    names = {config.name for config in listed}
    return entries + [_broker_entry(name, text, layers) for name, text in layers.texts.items() if name not in names]


def describe_all_brokers(layers: Layers) -> list[Entry]:
    """The entries of the resource that stands for all brokers: what is set for all of them, and nothing else."""
    of_all = Source.DYNAMIC_DEFAULT_BROKER
    entries = [_broker_entry(name, text, layers) for name, text in layers.cluster.items()]
    return [
        entry._replace(source=of_all, synonyms=tuple(synonym for synonym in entry.synonyms if synonym.source is of_all))
        for entry in entries
    ]


def describe_group(overrides: Mapping[str, str], layers: Layers) -> list[Entry]:
    """The entries of a group with these configurations of its own."""
    return [
        _entry(config, format_value(group_value(config, overrides, layers)), _group_synonyms(config, overrides, layers))
        for config in GROUP
        if not config.internal or config.name in overrides or config.synonyms[0][0] in layers.texts
    ]


def describe_client_metrics(overrides: Mapping[str, str]) -> list[Entry]:
    """The entries of a client metrics subscription."""
    entries = []
    for config in CLIENT_METRICS:
        own = config.name in overrides
        value = format_value(config.parse(overrides[config.name]) if own else config.default_value())
        entries.append(_entry(config, value, [Synonym(config.name, value, Source.CLIENT_METRICS)] if own else []))
    return entries


def answered(
    entries: Iterable[Entry], names: Iterable[str] | None = None, *, synonyms: bool = False, documentation: bool = False
) -> list[Entry]:
    """What a request asks of the entries: these names (none or empty: all), with synonyms or without, documented or not.

    What nobody has documented (loggers) has an empty text in any case.
    """
    wanted = frozenset(names or ())
    return [
        entry._replace(
            synonyms=entry.synonyms if synonyms else (),
            documentation=entry.documentation if documentation or entry.documentation == "" else None,
        )
        for entry in entries
        if not wanted or entry.name in wanted
    ]


def _entry(config: Config, value: str | None, synonyms: Iterable[Synonym]) -> Entry:
    places = tuple(synonyms)
    source = places[0].source if places else Source.DEFAULT
    return Entry(config.name, value, source, False, False, config.type, places, config.doc)


def _broker_entry(name: str, value: str | None, layers: Layers) -> Entry:
    config, own = broker_config(name), BROKER.get(name)
    sensitive = config is None or config.sensitive
    places = tuple(_broker_synonyms(name, sensitive, layers))
    return Entry(
        name,
        None if sensitive else value,
        places[0].source if places else Source.DEFAULT,
        own is None or own.mode == "read-only",
        sensitive,
        config.type if config else Type.UNKNOWN,
        places,
        config.doc if config else None,
    )


def _broker_synonyms(name: str, sensitive: bool, layers: Layers) -> Iterator[Synonym]:
    places: list[tuple[Source, Callable[[str], str | None]]] = [
        (Source.DYNAMIC_BROKER, layers.own.get),
        (Source.DYNAMIC_DEFAULT_BROKER, layers.cluster.get),
        (Source.STATIC_BROKER, layers.static.get),
        (Source.DEFAULT, _default_text),
    ]
    names = names_of_one(name)
    found = ((other, text(other), source) for source, text in places for other in names)
    given = (Synonym(other, None if sensitive else text, source) for other, text, source in found if text is not None)
    return dropwhile(lambda synonym: synonym.name != name, given)


def _default_text(name: str) -> str | None:
    config = BROKER.get(name)
    return config.default if config is not None and config.mode != "dynamic-only" else None


def _topic_synonyms(config: Config, overrides: Mapping[str, str], layers: Layers) -> Iterator[Synonym]:
    if config.name in overrides:
        yield Synonym(config.name, format_value(config.parse(overrides[config.name])), Source.TOPIC)
    if config.synonyms:
        yield from _broker_synonyms(config.synonyms[0][0], False, layers)


def _group_synonyms(config: Config, overrides: Mapping[str, str], layers: Layers) -> Iterator[Synonym]:
    if config.name in overrides:
        yield Synonym(config.name, format_value(config.parse(overrides[config.name])), Source.GROUP)
    if config.synonyms:
        yield from _broker_synonyms(config.synonyms[0][0], False, layers)
    elif config.default is not None:
        yield Synonym(config.name, config.default, Source.DEFAULT)


def _new_topic_entry(config: Config, overrides: Mapping[str, str], layers: Layers) -> Entry:
    places = [(Source.DYNAMIC_BROKER, layers.own), (Source.DYNAMIC_DEFAULT_BROKER, layers.cluster)]
    given = [(overrides[config.name], 1, Source.TOPIC)] if config.name in overrides else []
    for source, layer in [*places, (Source.STATIC_BROKER, layers.static)]:
        given += [(layer[name], factor, source) for name, factor in config.synonyms if name in layer]
    text, factor, source = given[0] if given else (config.default, 1, Source.DEFAULT)
    value = text if factor == 1 or text is None else str(int(text) * factor)
    return _entry(config, value, ())._replace(source=source)
