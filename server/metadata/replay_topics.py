"""Replays the records about topics and partitions (KIP-631; directories: KIP-858; eligible leader
replicas: KIP-966).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .broken_log import BrokenLog
from .image import TOPIC, Image, PartitionImage, TopicImage, without
from .persistent_map import PersistentMap
from .topic_names import has_collision_chars, unify_collision_chars

NO_LEADER_CHANGE = -2
NO_RECOVERY_CHANGE = -1

NO_NAMES: frozenset[str] = frozenset()

# the same as the named tuple's own `__new__`, in half the time: there are many partitions
_new_tuple = tuple.__new__

CHANGED_LISTS = {  # field of PartitionChangeRecord -> field of PartitionImage
    "isr": "isr",
    "replicas": "replicas",
    "removing_replicas": "removing_replicas",
    "adding_replicas": "adding_replicas",
    "directories": "directories",
    "eligible_leader_replicas": "elr",
    "last_known_elr": "last_known_elr",
}


def topic(image: Image, record: Any) -> Image:
    if record.topic_id in image.topics or record.name in image.topic_ids:
        raise BrokenLog(f"{record!r} is about a topic that is there already")
    created = TopicImage(record.name, record.topic_id, PersistentMap())
    return image._replace(
        topics=image.topics.set(created.id, created),
        topic_ids=image.topic_ids.set(created.name, created.id),
        topics_with_collision_chars=_with_lookalike(image, created.name),
    )


def _with_lookalike(image: Image, name: str) -> PersistentMap[str, frozenset[str]]:
    if not has_collision_chars(name):
        return image.topics_with_collision_chars
    key = unify_collision_chars(name)
    return image.topics_with_collision_chars.set(key, image.topics_with_collision_chars.get(key, NO_NAMES) | {name})


def _without_lookalike(image: Image, name: str) -> PersistentMap[str, frozenset[str]]:
    if not has_collision_chars(name):
        return image.topics_with_collision_chars
    key = unify_collision_chars(name)
    left = image.topics_with_collision_chars[key] - {name}
    return image.topics_with_collision_chars.set(key, left) if left else image.topics_with_collision_chars.delete(key)


def known_topic(image: Image, record: Any) -> TopicImage:
    """The topic of a record. BrokenLog."""
    topic = image.topics.get(record.topic_id)
    if topic is None:
        raise BrokenLog(f"{record!r} is about a topic that does not exist")
    return topic


def _with_partition(image: Image, of: TopicImage, index: int, partition: PartitionImage) -> Image:
    return image._replace(topics=image.topics.set(of.id, of._replace(partitions=of.partitions.set(index, partition))))


def partition(image: Image, record: Any) -> Image:
    return _with_partition(image, known_topic(image, record), record.partition_id, partition_image(record))


def _not_shared(found: Any, _: Any) -> Any:
    return found


def partition_image(record: Any, shared: Callable[[Any, Any], Any] = _not_shared) -> PartitionImage:
    """The image of a PartitionRecord. `shared` may replace a tuple by an equal one that is already
    in memory.
    """
    replicas, directories, isr = tuple(record.replicas), tuple(record.directories), tuple(record.isr)
    return _new_tuple(
        PartitionImage,
        (
            shared(replicas, replicas),
            shared(directories, directories),
            shared(isr, isr),
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            tuple(record.adding_replicas),
            tuple(record.removing_replicas),
            record.leader_recovery_state,
            tuple(record.eligible_leader_replicas or ()),
            tuple(record.last_known_elr or ()),
        ),
    )


def partition_change(image: Image, record: Any) -> Image:
    """The partition epoch rises with every change, the leader epoch with every record that names a
    leader.
    """
    of = known_topic(image, record)
    found = of.partitions.get(record.partition_id)
    if found is None:
        raise BrokenLog(f"{record!r} is about a partition that does not exist")
    changes: dict[str, Any] = {"partition_epoch": found.partition_epoch + 1}
    for theirs, ours in CHANGED_LISTS.items():
        if (value := getattr(record, theirs)) is not None:
            changes[ours] = tuple(value)
    if record.leader != NO_LEADER_CHANGE:
        changes |= {"leader": record.leader, "leader_epoch": found.leader_epoch + 1}
    if record.leader_recovery_state != NO_RECOVERY_CHANGE:
        changes["leader_recovery_state"] = record.leader_recovery_state
    return _with_partition(image, of, record.partition_id, found._replace(**changes))


def remove_topic(image: Image, record: Any) -> Image:
    removed = known_topic(image, record)
    return image._replace(
        topics=image.topics.delete(removed.id),
        topic_ids=image.topic_ids.delete(removed.name),
        topics_with_collision_chars=_without_lookalike(image, removed.name),
        configs=without(image.configs, (TOPIC, removed.name)),
    )


def clear_elr(image: Image, record: Any) -> Image:
    """Clears the eligible leader replicas of one topic, or of all topics if no name is given."""
    if not record.topic_name:
        topics = list(image.topics.values())
    elif (found := image.topic_named(record.topic_name)) is not None:
        topics = [found]
    else:
        raise BrokenLog(f"{record!r} is about a topic that does not exist")
    cleared = {
        of.id: _without_elr(of) for of in topics if any(p.elr or p.last_known_elr for p in of.partitions.values())
    }
    return image._replace(topics=image.topics.update(cleared)) if cleared else image


def _without_elr(of: TopicImage) -> TopicImage:
    cleared = {index: p._replace(elr=(), last_known_elr=()) for index, p in of.partitions.items()}
    return of._replace(partitions=of.partitions.update(cleared))


REPLAYS: dict[str, Callable[[Image, Any], Image]] = {
    "TopicRecord": topic,
    "PartitionRecord": partition,
    "PartitionChangeRecord": partition_change,
    "RemoveTopicRecord": remove_topic,
    "ClearElrRecord": clear_elr,
}
