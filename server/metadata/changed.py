"""How much of a snapshot is no longer true: the measure of KIP-630's `metadata.snapshot.min.changed_records.ratio`.

Of the records that an older image is written as, those count that a newer one would not be written with: changed, or gone. Records that are new
do not count. Images share what is the same, and what is shared is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from immutables import Map

from .image import Image

SINGLE = ("features", "brokers", "controllers", "acls", "scram", "tokens")
"""Fields of an image that hold what becomes one record each, by key."""

NESTED = ("configs", "quotas")
"""Fields that hold by key what becomes one record each by a second key."""

NOTHING: Map[Any, Any] = Map()


def ratio(before: Image, after: Image) -> float:
    """From 0, nothing has changed, to 1; 0 too where there was nothing."""
    total = records_in(before)
    return changed(before, after) / total if total else 0.0


def records_in(image: Image) -> int:
    """How many records the image is written as."""
    single = sum(len(getattr(image, field)) for field in SINGLE) + bool(image.next_producer_id)
    topics = sum(1 + len(topic.partitions) for topic in image.topics.values())
    return single + topics + sum(len(values) for field in NESTED for values in getattr(image, field).values())


def changed(before: Image, after: Image) -> int:
    """How many of the older image's records are not the newer's."""
    count = sum(_differing(getattr(before, field), getattr(after, field)) for field in SINGLE)
    count += bool(before.next_producer_id) and before.next_producer_id != after.next_producer_id
    if before.topics is not after.topics:
        count += _of_topics(before, after)
    return count + sum(_of_values(getattr(before, field), getattr(after, field)) for field in NESTED)


def _of_values(before: Mapping[Any, Map[Any, Any]], after: Mapping[Any, Map[Any, Any]]) -> int:
    if before is after:
        return 0
    return sum(_differing(values, after.get(key, NOTHING)) for key, values in before.items())


def _of_topics(before: Image, after: Image) -> int:
    count = 0
    for topic_id, topic in before.topics.items():
        now = after.topics.get(topic_id)
        if now is None:
            count += 1 + len(topic.partitions)
        elif now is not topic:
            count += _differing(topic.partitions, now.partitions)
    return count


def _differing(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> int:
    if before is after:
        return 0
    return sum(1 for key, value in before.items() if (now := after.get(key)) is not value and now != value)
