"""The topics that a change of the image created, changed or removed.

They are found by the records between the images or, for an image loaded from a snapshot, by
comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .image import Image, TopicImage


def removed_topics(before: Image, after: Image, records: Sequence[Any] | None) -> list[TopicImage]:
    """Returns the topics that `before` has and `after` has not."""
    if records is None:
        return [topic for topic in before.topics.values() if topic.id not in after.topics]
    removed_ids = (record.topic_id for record in records if type(record).__name__ == "RemoveTopicRecord")
    return [topic for id in removed_ids if (topic := before.topic(id)) is not None]


def changed_topic_names(before: Image, after: Image, records: Sequence[Any] | None) -> set[str]:
    """Returns the names of all topics that differ, also those that only one of the images has."""
    if before.topics is after.topics:
        return set()
    if records is None:
        ids = {*before.topics, *after.topics}
        changed = {id for id in ids if before.topic(id) is not after.topic(id)}
    else:
        changed = {record.topic_id for record in records if type(record).__name__ in TOPIC_RECORDS}
    return {topic.name for id in changed if (topic := after.topic(id) or before.topic(id)) is not None}


TOPIC_RECORDS = frozenset(("TopicRecord", "PartitionRecord", "PartitionChangeRecord", "RemoveTopicRecord"))
"""The names of the records that change a topic."""
