"""The history of leaders and in-sync replicas: each change with its partition, its time, and the
old and new values.

Each change has the offset, the epoch and the timestamp of its record. Changes before the first
snapshot are not known. When a later snapshot is loaded, the differences are listed at its end. The
last `MOST` rows are kept.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.image import EMPTY, Image, PartitionImage

from .change import Place

MOST = 10_000


class Row(NamedTuple):
    """A partition after a change of its leader or ISR, and its earlier state."""

    place: Place
    topic: str
    partition: int
    now: PartitionImage
    before: PartitionImage | None

    @property
    def what(self) -> str:
        """The change in a few words."""
        if self.before is None:
            return "created"
        ours, theirs = set(self.now.isr), set(self.before.isr)
        words = [
            *(["shrinks"] if theirs - ours else []),
            *(["grows"] if ours - theirs else []),
            *(_leader(self.before.leader, self.now.leader)),
        ]
        return ", ".join(words) or "elected again"


def _leader(before: int, now: int) -> list[str]:
    if before == now:
        return []
    return ["leader lost" if now < 0 else "leader found" if before < 0 else "leader moves"]


class MetadataHistory:
    """The rows of the history. `dropped` counts the rows that were removed to make room."""

    def __init__(self) -> None:
        self.rows: deque[Row] = deque(maxlen=MOST)
        self.dropped = 0

    def heed(self, place: Place, before: Image, now: Image, message: Message) -> None:
        """Adds the change by a record, from the image `before` to `now`."""
        if type(message).__name__ not in ("PartitionRecord", "PartitionChangeRecord"):
            return
        topic_id = getattr(message, "topic_id")  # noqa: B009  the class is known by its name alone
        index = getattr(message, "partition_id")  # noqa: B009  as above
        topic, old = now.topics[topic_id], before.topics.get(topic_id)
        self._add(place, topic.name, index, topic.partitions[index], old.partitions.get(index) if old else None)

    def compare(self, place: Place, before: Image, now: Image) -> None:
        """Adds the differences between the image before a snapshot and the image after it."""
        if before is EMPTY:
            return
        for topic_id, topic in now.topics.items():
            old = before.topics.get(topic_id)
            for index, partition in topic.in_order():
                self._add(place, topic.name, index, partition, old.partitions.get(index) if old else None)

    def _add(self, place: Place, topic: str, index: int, now: PartitionImage, before: PartitionImage | None) -> None:
        if before is not None and _seen(before) == _seen(now):
            return
        self.dropped += len(self.rows) == MOST
        self.rows.append(Row(place, topic, index, now, before))


def _seen(partition: PartitionImage) -> tuple[object, ...]:
    return partition.leader, partition.leader_epoch, set(partition.isr)
