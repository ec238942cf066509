"""Topics of a request, told apart by whether they exist: offsets are taken only for partitions that do.

Up to a version of its own an API names topics, after that it gives their ids. What exists goes on with both.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ..metadata.image import Image


class Known(NamedTuple):
    """A topic of a request: what is known of it, and the indexes of those of its partitions that are not.

    `code` is the error of the whole topic; then `name` and `id` are what the request said.
    """

    name: str
    id: Uuid
    code: int
    unknown: frozenset[int]


def known_topic(image: Image, name: str, topic_id: bytes, by_id: bool, indexes: list[int]) -> Known:
    """Look a topic of a request up, and its partitions."""
    topic = image.topic(Uuid(topic_id)) if by_id else image.topic_named(name)
    if topic is None:
        code = error_codes.UNKNOWN_TOPIC_ID if by_id else error_codes.UNKNOWN_TOPIC_OR_PARTITION
        return Known(name, Uuid(topic_id), code, frozenset())
    return Known(
        topic.name, topic.id, error_codes.NONE, frozenset(index for index in indexes if index not in topic.partitions)
    )
