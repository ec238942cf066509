"""Describes records of the metadata log in words, using the image before and after the record.
Types without a description are shown as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.image import Image, PartitionImage

from .change import ids
from .naming import level_text, resource_text, value_text


def description(before: Image, now: Image, message: Message) -> str:
    """The description of a record; empty when its type has none."""
    found = _WORDS.get(type(message).__name__)
    return found(before, now, message) if found else ""


def _topic(before: Image, now: Image, record: Any) -> str:
    return f"topic {record.name} is created, id {record.topic_id}"


def _topic_removed(before: Image, now: Image, record: Any) -> str:
    return f"topic {before.topics[record.topic_id].name} is deleted"


def _partition(before: Image, now: Image, record: Any) -> str:
    topic = now.topics[record.topic_id]
    made = topic.partitions[record.partition_id]
    return (
        f"{topic.name}-{record.partition_id}: replicas {ids(made.replicas)}, ISR {ids(made.isr)}, leader {made.leader}"
    )


def _partition_change(before: Image, now: Image, record: Any) -> str:
    topic, index = now.topics[record.topic_id], record.partition_id
    old, new = before.topics[record.topic_id].partitions[index], topic.partitions[index]
    differences = "; ".join(_differences(old, new)) or "nothing but the epoch"
    return f"{topic.name}-{index}: {differences}; partition epoch {new.partition_epoch}"


def _differences(old: PartitionImage, new: PartitionImage) -> Iterator[str]:
    if old.isr != new.isr:
        yield f"ISR {ids(old.isr)} -> {ids(new.isr)}"
    if (old.leader, old.leader_epoch) != (new.leader, new.leader_epoch):
        yield f"leader {old.leader} -> {new.leader} in epoch {new.leader_epoch}"
    for name in ("replicas", "adding_replicas", "removing_replicas", "elr", "last_known_elr"):
        one, other = getattr(old, name), getattr(new, name)
        if one != other:
            yield f"{name.replace('_', ' ')} {ids(one)} -> {ids(other)}"
    if old.directories != new.directories:
        yield "other directories"


def _registered(before: Image, now: Image, record: Any) -> str:
    at = ", ".join(f"{point.name}://{point.host}:{point.port}" for point in record.end_points)
    return f"broker {record.broker_id} registers with epoch {record.broker_epoch}, {at}{', fenced' * record.fenced}"


def _registration(before: Image, now: Image, record: Any) -> str:
    old, new = before.brokers[record.broker_id], now.brokers[record.broker_id]
    words = [
        *([("fenced" if new.fenced else "unfenced")] if old.fenced != new.fenced else []),
        *(["about to stop"] if new.in_controlled_shutdown and not old.in_controlled_shutdown else []),
        *(["other directories"] if old.log_dirs != new.log_dirs else []),
        *(["other cordoned directories"] if old.cordoned_log_dirs != new.cordoned_log_dirs else []),
    ]
    return f"broker {record.broker_id} is {', '.join(words) or 'unchanged'}"


def _unregistered(before: Image, now: Image, record: Any) -> str:
    return f"broker {record.broker_id} is unregistered"


def _controller(before: Image, now: Image, record: Any) -> str:
    return f"controller {record.controller_id} registers"


def _config(before: Image, now: Image, record: Any) -> str:
    what = resource_text(record.resource_type, record.resource_name)
    if record.value is None:
        return f"{what}: {record.name} is unset"
    return f"{what}: {record.name}={value_text(record.name, record.value)}"


def _feature(before: Image, now: Image, record: Any) -> str:
    return f"feature {record.name} is {level_text(record.name, record.feature_level)}"


def _leader(before: Image, now: Image, record: Any) -> str:
    votes = ids([voter.voter_id for voter in record.granting_voters])
    return f"controller {record.leader_id} leads, by the votes of {votes}"


def _voters(before: Image, now: Image, record: Any) -> str:
    return f"the voters are {ids([voter.voter_id for voter in record.voters])}"


def _kraft_version(before: Image, now: Image, record: Any) -> str:
    return f"kraft.version is {record.kraft_version}"


_WORDS: dict[str, Callable[[Image, Image, Any], str]] = {
    "TopicRecord": _topic,
    "RemoveTopicRecord": _topic_removed,
    "PartitionRecord": _partition,
    "PartitionChangeRecord": _partition_change,
    "RegisterBrokerRecord": _registered,
    "BrokerRegistrationChangeRecord": _registration,
    "UnregisterBrokerRecord": _unregistered,
    "RegisterControllerRecord": _controller,
    "ConfigRecord": _config,
    "FeatureLevelRecord": _feature,
    "LeaderChangeMessage": _leader,
    "VotersRecord": _voters,
    "KRaftVersionRecord": _kraft_version,
}
