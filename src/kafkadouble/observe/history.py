"""How leaders and in-sync replicas of partitions changed, by the log: where, when, from what to what.

Of each change the offset, the epoch of the quorum and the time are those of its record. What happened before a snapshot that the log was begun
with is not known; where a snapshot comes on the way, what differs is listed at its end. The last `MOST` rows are kept.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.image import EMPTY, Image, PartitionImage

from .change import Place

MOST = 10_000


class Row(NamedTuple):
    """A partition after a change of its leader or ISR, and what it was."""

    place: Place
    topic: str
    partition: int
    now: PartitionImage
    before: PartitionImage | None

    @property
    def what(self) -> str:
        """In a word or two."""
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


class History:
    """`dropped` counts the rows that are not kept any more."""

    def __init__(self) -> None:
        self.rows: deque[Row] = deque(maxlen=MOST)
        self.dropped = 0

    def heed(self, place: Place, before: Image, now: Image, message: Message) -> None:
        """A record has made `now` of `before`."""
        if type(message).__name__ not in ("PartitionRecord", "PartitionChangeRecord"):
            return
        topic_id = getattr(message, "topic_id")  # noqa: B009  the class is known by its name alone
        index = getattr(message, "partition_id")  # noqa: B009  as above
        topic, old = now.topics[topic_id], before.topics.get(topic_id)
        self._add(place, topic.name, index, topic.partitions[index], old.partitions.get(index) if old else None)

    def compare(self, place: Place, before: Image, now: Image) -> None:
        """A snapshot has made `now` of `before`."""
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
