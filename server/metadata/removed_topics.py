"""The topics that a change of the image removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .image import Image, TopicImage


def removed_topics(before: Image, after: Image, records: Sequence[Any] | None) -> list[TopicImage]:
    """By the records between the images or, for an image loaded from a snapshot, by comparison."""
    if records is None:
        return [topic for topic in before.topics.values() if topic.id not in after.topics]
    removed_ids = (record.topic_id for record in records if type(record).__name__ == "RemoveTopicRecord")
    return [topic for id in removed_ids if (topic := before.topic(id)) is not None]
