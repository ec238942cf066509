"""Resolves the topics of an offset request: offsets are accepted only for partitions that exist.

Old versions of an API name a topic; from a certain version on they send its id. A resolved topic
has both.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ..metadata.image import Image


class ResolvedTopic(NamedTuple):
    """A topic of a request, and the indexes of its partitions that do not exist.

    `code` is the error of the whole topic; `name` and `id` are those of the request then.
    """

    name: str
    id: Uuid
    code: int
    unknown: frozenset[int]


def resolve_topic(image: Image, name: str, topic_id: bytes, by_id: bool, indexes: list[int]) -> ResolvedTopic:
    """Look up a topic of a request and its partitions."""
    topic = image.topic(Uuid(topic_id)) if by_id else image.topic_named(name)
    if topic is None:
        code = error_codes.UNKNOWN_TOPIC_ID if by_id else error_codes.UNKNOWN_TOPIC_OR_PARTITION
        return ResolvedTopic(name, Uuid(topic_id), code, frozenset())
    unknown = frozenset(index for index in indexes if index not in topic.partitions)
    return ResolvedTopic(topic.name, topic.id, error_codes.NONE, unknown)
