"""Resolves the topics of an offset request: offsets are accepted only for partitions that exist.

Old versions of an API name a topic; from a certain version on they send its id. A resolved topic
has both.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ..metadata.image import Image
from ..requests.waiting import OTHERS_FIRST, Slices, Wait

T = TypeVar("T", bound=Any)
"""A topic of a request or of a response, with `name`, `topic_id` and `partitions`."""


class ResolvedTopic(NamedTuple):
    """A topic of a request, and the indexes of its partitions that do not exist.

    `code` is the error of the whole topic; `name` and `id` are those of the request then.
    """

    name: str
    id: Uuid
    code: int
    unknown: frozenset[int]


def resolve_topic(image: Image, name: str, topic_id: bytes, by_id: bool, indexes: list[int]) -> ResolvedTopic:
    """Looks up a topic of a request and its partitions."""
    topic = image.topic(Uuid(topic_id)) if by_id else image.topic_named(name)
    if topic is None:
        code = error_codes.UNKNOWN_TOPIC_ID if by_id else error_codes.UNKNOWN_TOPIC_OR_PARTITION
        return ResolvedTopic(name, Uuid(topic_id), code, frozenset())
    unknown = frozenset(index for index in indexes if index not in topic.partitions)
    return ResolvedTopic(topic.name, topic.id, error_codes.NONE, unknown)


def resolve_topics(image: Image, topics: Iterable[T], by_id: bool) -> Wait[tuple[list[tuple[T, int]], list[T]]]:
    """Divides the topics of a request, in slices: what does not exist, each with its error code,
    and what exists, with names and ids. A topic of which only some partitions exist is in both."""
    refused: list[tuple[T, int]] = []
    known: list[T] = []
    slices = Slices()
    for topic in topics:
        if slices.end(1 + len(topic.partitions)):
            yield OTHERS_FIRST
        indexes = [partition.partition_index for partition in topic.partitions]
        found = resolve_topic(image, topic.name, topic.topic_id, by_id, indexes)
        if found.code:
            refused.append((topic, found.code))
            continue
        kind: Any = type(topic)
        make = partial(kind, name=found.name, topic_id=found.id)
        if topic.partitions and not found.unknown:
            known.append(make(partitions=topic.partitions))
            continue
        good = [partition for partition in topic.partitions if partition.partition_index not in found.unknown]
        bad = [partition for partition in topic.partitions if partition.partition_index in found.unknown]
        if bad:
            refused.append((make(partitions=bad), error_codes.UNKNOWN_TOPIC_OR_PARTITION))
        if good:
            known.append(make(partitions=good))
    return refused, known


def merged_topics(first: list[T], then: list[T]) -> Wait[list[T]]:
    """Merges the topics of a response so that each is there once, as in Kafka's response
    builder."""
    if not first:
        return then
    by_topic: dict[tuple[str, bytes], T] = {}
    slices = Slices()
    for topic in chain(first, then):
        present = by_topic.setdefault((topic.name, topic.topic_id), topic)
        if present is not topic:
            present.partitions = [*present.partitions, *topic.partitions]
        if slices.end():
            yield OTHERS_FIRST
    return list(by_topic.values())
