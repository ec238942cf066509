"""Which partitions of a share group's topics have a state at the share coordinator (KIP-932).

    initializing    the share coordinator was sent InitializeShareGroupState
    initialized     it has the state, so the partitions may be assigned
    deleting        it was sent DeleteShareGroupState for the topic

A partition moves from initializing to initialized. A partition that is initializing for longer than
`group.share.initialize.retry.interval.ms` is sent again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid

from ...metadata.image import Image

UNKNOWN_NAME = "<UNKNOWN>"
"""The name of a topic that does not exist, as Kafka writes it."""

NO_TIMESTAMP = -1

TopicPartitions = Mapping[Uuid, Collection[int]]
"""Topic id -> partitions."""


class InitMapValue(NamedTuple):
    """Partitions of one topic. `timestamp` (ms) is when this broker learned of them."""

    name: str
    partitions: frozenset[int]
    timestamp: int


InitMap = Mapping[Uuid, InitMapValue]
"""Topic id -> partitions."""


NO_TOPICS: InitMap = {}


class StatePartitionMetadata(NamedTuple):
    """All of it, for one group (Kafka: `ShareGroupStatePartitionMetadataInfo`)."""

    initializing: InitMap = NO_TOPICS
    initialized: InitMap = NO_TOPICS
    deleting: frozenset[Uuid] = frozenset()

    def with_initializing(self, topics: InitMap) -> StatePartitionMetadata:
        """Returns it with these partitions, too; their topics are no longer deleted."""
        combined = combine_init_maps(self.initializing, topics)
        return self._replace(initializing=combined, deleting=self.deleting - combined.keys())

    def with_initialized(self, topics: InitMap) -> StatePartitionMetadata:
        """Returns it after the share coordinator has initialized these partitions."""
        partitions = {topic_id: value.partitions for topic_id, value in topics.items()}
        return self.without_initializing(partitions)._replace(initialized=combine_init_maps(self.initialized, topics))

    def without_initializing(self, partitions: TopicPartitions) -> StatePartitionMetadata:
        """Returns it without these initializing partitions."""
        left = {
            topic_id: value._replace(partitions=value.partitions - frozenset(partitions.get(topic_id, ())))
            for topic_id, value in self.initializing.items()
        }
        return self._replace(
            initializing={id: value for id, value in left.items() if value.partitions or id not in partitions}
        )

    def without_topics(self, topic_ids: Collection[Uuid]) -> StatePartitionMetadata:
        """Returns it without these topics, which were deleted."""
        return StatePartitionMetadata(
            {id: value for id, value in self.initializing.items() if id not in topic_ids},
            {id: value for id, value in self.initialized.items() if id not in topic_ids},
            self.deleting.difference(topic_ids),
        )

    def has_any(self, topic_ids: Collection[Uuid]) -> bool:
        """Returns whether any of these topics is in it."""
        return any(id in self.initializing or id in self.initialized or id in self.deleting for id in topic_ids)


def combine_init_maps(first: InitMap, second: InitMap) -> dict[Uuid, InitMapValue]:
    """Returns the partitions of both; names and timestamps are those of `second`."""
    combined = dict(first)
    for topic_id, value in second.items():
        before = combined.get(topic_id)
        partitions = value.partitions if before is None else before.partitions | value.partitions
        combined[topic_id] = value._replace(partitions=partitions)
    return combined


def uninitialized_partitions(
    metadata: StatePartitionMetadata, names: Iterable[str], image: Image, now: int, retry_ms: int
) -> dict[Uuid, InitMapValue]:
    """Returns the partitions of these topics that are not initialized, and that are not
    initializing since less than `retry_ms` (Kafka: `subscribedTopicsChangeMap`)."""
    recent = {id: value for id, value in metadata.initializing.items() if now - value.timestamp < retry_ms}
    known = combine_init_maps(metadata.initialized, recent)
    values: dict[Uuid, InitMapValue] = {}
    for name in names:
        topic = image.topic_named(name)
        if topic is None:
            continue
        present = known[topic.id].partitions if topic.id in known else frozenset()
        if not present or len(present) < len(topic.partitions):
            values[topic.id] = InitMapValue(name, frozenset(range(len(topic.partitions))) - present, now)
    return values


def with_init_values(partitions: TopicPartitions, image: Image, now: int) -> dict[Uuid, InitMapValue]:
    """Returns the partitions with the names of their topics."""
    return {
        topic_id: InitMapValue(name_of(topic_id, image), frozenset(each), now) for topic_id, each in partitions.items()
    }


def name_of(topic_id: Uuid, image: Image) -> str:
    topic = image.topic(topic_id)
    return UNKNOWN_NAME if topic is None else topic.name
