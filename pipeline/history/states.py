"""The tables of a cluster's metadata: the keys that each record touches, and the row of a key
(KIP-631, KIP-853).

A table does not interpret a record: it names the keys that a record may have changed, and looks
them up in the metadata image that the server builds from the log. So a row shows the state that a
node had after the record.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from kafkadouble.server.metadata.image import BROKER, CLIENT_METRICS, GROUP, TOPIC, BrokerImage, Image, PartitionImage

_ENDPOINT = pa.struct(
    [
        pa.field("name", pa.string()),
        pa.field("host", pa.string()),
        pa.field("port", pa.int32()),
        pa.field("security_protocol", pa.int32()),
    ]
)


def _list(type: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", type))


_IDS = _list(pa.int32())
_TEXTS = _list(pa.string())

RESOURCES = {TOPIC: "topic", BROKER: "broker", CLIENT_METRICS: "client-metrics", GROUP: "group"}
"""Type of a config resource -> its name in Kafka's command-line tools."""

Touch = Callable[[Any, Image], Iterable[Hashable]]
"""The keys that a record may have changed, given the image before it."""


class StateTable(NamedTuple):
    """One table. `touched`: name of a record's message -> the keys that it may have changed. `row`:
    the image's value for a key, or None."""

    fields: Mapping[str, pa.DataType]
    touched: Mapping[str, Touch]
    row: Callable[[Image, Any], dict[str, Any] | None]


def _by(*names: str) -> Touch:
    """Reads the key from these fields of the record."""
    if len(names) == 1:
        return lambda record, _: (getattr(record, names[0]),)
    return lambda record, _: (tuple(getattr(record, name) for name in names),)


# Topics and their partitions. The partitions of a deleted topic are in the image before the record.


def _partitions_of_topic(record: Any, before: Image) -> Iterable[Hashable]:
    topic = before.topic(record.topic_id)
    return [(record.topic_id, index) for index in topic.partitions] if topic else []


def _partitions_of_named(record: Any, before: Image) -> Iterable[Hashable]:
    """ClearElrRecord concerns one topic by its name, or all topics (KIP-966)."""
    named = [before.topic_named(record.topic_name)] if record.topic_name else list(before.topics.values())
    return [(topic.id, index) for topic in named if topic for index in topic.partitions]


_PARTITION_RECORDS: dict[str, Touch] = {
    "PartitionRecord": _by("topic_id", "partition_id"),
    "PartitionChangeRecord": _by("topic_id", "partition_id"),
    "ClearElrRecord": _partitions_of_named,
    "RemoveTopicRecord": _partitions_of_topic,
}


def _topic(image: Image, key: Any) -> dict[str, Any] | None:
    topic = image.topic(key)
    return topic and {"topic": topic.name, "topic_id": str(topic.id), "partitions": len(topic.partitions)}


def _topic_and_partition(image: Image, key: Any) -> tuple[dict[str, Any], PartitionImage] | None:
    topic = image.topic(key[0])
    partition = topic.partitions.get(key[1]) if topic else None
    if topic is None or partition is None:
        return None
    return {"topic": topic.name, "topic_id": str(topic.id), "partition": key[1]}, partition


def _partition(image: Image, key: Any) -> dict[str, Any] | None:
    pair = _topic_and_partition(image, key)
    if pair is None:
        return None
    named, partition = pair
    ids = {name: list(getattr(partition, name)) for name in _PARTITION_IDS}
    directories = [str(directory) for directory in partition.directories]
    return {
        **named,
        **{name: getattr(partition, name) for name in _PARTITION_NUMBERS},
        **ids,
        "directories": directories,
    }


def _in_sync(image: Image, key: Any) -> dict[str, Any] | None:
    pair = _topic_and_partition(image, key)
    if pair is None:
        return None
    named, partition = pair
    return {
        **named,
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        **{name: list(getattr(partition, name)) for name in _ISR_IDS},
    }


_PARTITION = {"topic": pa.string(), "topic_id": pa.string(), "partition": pa.int32()}
_PARTITION_NUMBERS = ("leader", "leader_epoch", "partition_epoch", "leader_recovery_state")
_PARTITION_IDS = ("replicas", "isr", "adding_replicas", "removing_replicas", "elr", "last_known_elr")
_ISR_IDS = ("isr", "elr", "replicas")

# Brokers, configurations, features.


def _broker(image: Image, key: Any) -> dict[str, Any] | None:
    broker: BrokerImage | None = image.brokers.get(key)
    return broker and {
        "broker_id": broker.id,
        "broker_epoch": broker.epoch,
        "incarnation_id": str(broker.incarnation_id),
        "rack": broker.rack,
        "fenced": broker.fenced,
        "in_controlled_shutdown": broker.in_controlled_shutdown,
        "endpoints": [endpoint._asdict() for endpoint in broker.endpoints],
        "log_dirs": [str(id) for id in broker.log_dirs],
    }


def _configs_of_topic(record: Any, before: Image) -> Iterable[Hashable]:
    topic = before.topic(record.topic_id)
    return [(TOPIC, topic.name, name) for name in before.config_overrides(TOPIC, topic.name)] if topic else []


def _config(image: Image, key: Any) -> dict[str, Any] | None:
    kind, resource, name = key
    value = image.config_overrides(kind, resource).get(name)
    if value is None:
        return None
    return {"resource_type": RESOURCES.get(kind, str(kind)), "resource": resource, "name": name, "value": value}


def _feature(image: Image, key: Any) -> dict[str, Any] | None:
    level = image.features.get(key)
    return None if level is None else {"feature": key, "level": level}


_BROKER_ID, _ID = _by("broker_id"), _by("id")

STATES = {
    "topics": StateTable(
        {"topic": pa.string(), "topic_id": pa.string(), "partitions": pa.int32()},
        {name: _by("topic_id") for name in ("TopicRecord", "PartitionRecord", "RemoveTopicRecord")},
        _topic,
    ),
    "partitions": StateTable(
        {
            **_PARTITION,
            **dict.fromkeys(_PARTITION_NUMBERS, pa.int32()),
            **dict.fromkeys(_PARTITION_IDS, _IDS),
            "directories": _TEXTS,
        },
        _PARTITION_RECORDS,
        _partition,
    ),
    "isr_history": StateTable(
        {**_PARTITION, "leader": pa.int32(), "leader_epoch": pa.int32(), **dict.fromkeys(_ISR_IDS, _IDS)},
        _PARTITION_RECORDS,
        _in_sync,
    ),
    "brokers": StateTable(
        {
            "broker_id": pa.int32(),
            "broker_epoch": pa.int64(),
            "incarnation_id": pa.string(),
            "rack": pa.string(),
            "fenced": pa.bool_(),
            "in_controlled_shutdown": pa.bool_(),
            "endpoints": _list(_ENDPOINT),
            "log_dirs": _TEXTS,
        },
        {
            "RegisterBrokerRecord": _BROKER_ID,
            "BrokerRegistrationChangeRecord": _BROKER_ID,
            "UnregisterBrokerRecord": _BROKER_ID,
            "FenceBrokerRecord": _ID,
            "UnfenceBrokerRecord": _ID,
        },
        _broker,
    ),
    "configs": StateTable(
        {"resource_type": pa.string(), "resource": pa.string(), "name": pa.string(), "value": pa.string()},
        {"ConfigRecord": _by("resource_type", "resource_name", "name"), "RemoveTopicRecord": _configs_of_topic},
        _config,
    ),
    "features": StateTable(
        {"feature": pa.string(), "level": pa.int32()}, {"FeatureLevelRecord": _by("name")}, _feature
    ),
}
"""Name of the table -> its definition."""
