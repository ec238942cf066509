"""The share of the last snapshot's records that changed, for
`metadata.snapshot.min.changed_records.ratio` (KIP-630, "When to Snapshot").

Counted are records of the last snapshot that were changed or deleted since, and records that were
added since and then changed or deleted. Not counted are records that were only added, and records
of the snapshot that were changed back. The measure compares images, so additions that are deleted
in the same batch or metadata transaction never count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from .image import TOPIC, Image, TopicImage

SINGLE = ("features", "brokers", "controllers", "acls", "scram", "tokens")
"""Fields of an image with one record per key."""

NESTED = ("configs", "quotas")
"""Fields of an image with one record per key and second key."""

WIDE_RECORDS = ("ClearElrRecord", "EndTransactionRecord")
"""Records that may change topics without naming them."""

EMPTY_MAP: Mapping[Any, Any] = {}

Key = tuple[Any, ...]
"""Identifies a record of an image: the field, its key, and the second key of a nested field."""


class ChangedRecords:
    """Tracks the changes since the last snapshot. Holds at most as many keys as the snapshot has
    records.
    """

    def __init__(self) -> None:
        self._snapshot: Image | None = None
        self._total = 0
        # records added after the snapshot that were then changed or deleted
        self._added: set[Key] = set()

    def restart(self, snapshot: Image | None) -> None:
        """The last snapshot holds this image; None without a snapshot."""
        self._snapshot, self._added = snapshot, set()
        self._total = 0 if snapshot is None else records_in(snapshot)

    def follow(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        """`records` lie between the two images; None if they are not known."""
        if self._snapshot is None:
            return
        for key in differing_keys(before, after, _touched(before, records)):
            if len(self._added) >= self._total:
                return  # the ratio is 1 already
            if not _has(self._snapshot, key):
                self._added.add(key)

    def ratio(self, image: Image) -> float:
        """Changed records per record of the last snapshot, from 0 to 1; 1 without a snapshot."""
        if self._snapshot is None or not self._total:
            return 1.0
        return min(1.0, (count_differing(self._snapshot, image) + len(self._added)) / self._total)


def records_in(image: Image) -> int:
    """The number of records that the image is written as."""
    single = sum(len(getattr(image, field)) for field in SINGLE) + bool(image.next_producer_id)
    topics = sum(1 + len(topic.partitions) for topic in image.topics.values())
    return single + topics + sum(len(values) for field in NESTED for values in getattr(image, field).values())


def count_differing(before: Image, after: Image) -> int:
    """The number of records of the older image that the newer one does not have."""
    return sum(1 for _ in differing_keys(before, after))


def differing_keys(before: Image, after: Image, touched: Mapping[str, Collection[Any]] | None = None) -> Iterator[Key]:
    """The records of the older image that the newer one does not have. `touched` limits the search
    to some keys in the fields that it names. Shared parts of the images are skipped.
    """
    touched = touched or {}
    for field in SINGLE:
        yield from ((field, key) for key in _differing(getattr(before, field), getattr(after, field)))
    if before.next_producer_id and before.next_producer_id != after.next_producer_id:
        yield ("next_producer_id",)
    if before.topics is not after.topics:
        yield from _differing_in_topics(before, after, touched.get("topics"))
    for field in NESTED:
        yield from _differing_in_values(field, getattr(before, field), getattr(after, field), touched.get(field))


def _differing_in_topics(before: Image, after: Image, touched: Collection[Any] | None) -> Iterator[Key]:
    for topic_id, topic in _items(before.topics, touched):
        now = after.topics.get(topic_id)
        if now is None:
            yield "topics", topic_id
        partitions = EMPTY_MAP if now is None else now.partitions
        yield from (("topics", topic_id, index) for index in _differing(topic.partitions, partitions))


def _differing_in_values(
    field: str,
    before: Mapping[Any, Mapping[Any, Any]],
    after: Mapping[Any, Mapping[Any, Any]],
    touched: Collection[Any] | None,
) -> Iterator[Key]:
    if before is not after:
        for key, values in _items(before, touched):
            yield from ((field, key, name) for name in _differing(values, after.get(key, EMPTY_MAP)))


def _items(mapping: Mapping[Any, Any], keys: Collection[Any] | None) -> Iterator[tuple[Any, Any]]:
    if keys is None:
        yield from mapping.items()
    else:
        yield from ((key, mapping[key]) for key in keys if key in mapping)


def _differing(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[Any]:
    if before is not after:
        for key, value in before.items():
            now = after.get(key)
            if now is not value and now != value:
                yield key


def _touched(before: Image, records: Sequence[Any] | None) -> dict[str, set[Any]] | None:
    """The topics and resources that the records name, so that the cost of a commit depends on what
    it changes, not on the size of the cluster. None for all.
    """
    if records is None or any(type(record).__name__ in WIDE_RECORDS for record in records):
        return None
    topics = {record.topic_id for record in records if hasattr(record, "topic_id")}
    resources = {(record.resource_type, record.resource_name) for record in records if hasattr(record, "resource_type")}
    resources |= {(TOPIC, before.topics[id].name) for id in topics if id in before.topics}
    return {"topics": topics, "configs": resources}


def _has(image: Image, key: Key) -> bool:
    """Whether the image has a record with this key."""
    field = getattr(image, key[0])
    if len(key) == 1:
        return bool(field)
    found = field.get(key[1])
    if found is None or len(key) == 2:
        return found is not None
    return key[2] in (found.partitions if isinstance(found, TopicImage) else found)
