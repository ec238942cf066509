"""Changes partitions of one image: looks up the rules of each topic for `partition_change_builder`.

A broker may lead if it is neither fenced nor in controlled shutdown, and the directory of its
replica is online. The image shows a broker as it was before a decision about it: the broker
`without` may not lead whatever the image says, the broker `back` may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.uuid import Uuid

from ..configs.definition import Value
from ..configs.effective import topic_value
from ..configs.own import TOPIC_HERE
from ..configs.settings import Settings
from ..metadata.features import ELR
from ..metadata.image import TOPIC, Image, PartitionImage, TopicImage
from ..metadata.log_dir_ids import MIGRATING, default_directory, directories_of, is_online
from ..metadata.record_versions import DIRECTORIES, level_of
from ..metadata.replay_topics import partition_change
from .leader_election import Election
from .partition_change_builder import PartitionChangeRules, PartitionTarget, build_partition_change

NO_BROKER = -1

NO_EPOCH_BUMP_ON_SHRINK = 12
"""The metadata.version from which the leader epoch stays when the ISR shrinks (KAFKA-15021)."""


class ImagePartition(NamedTuple):
    """One partition of an image."""

    topic: TopicImage
    number: int

    @property
    def partition(self) -> PartitionImage:
        return self.topic.partitions[self.number]


class PartitionChanges:
    """Changes partitions of `image`."""

    def __init__(self, image: Image, settings: Settings, *, without: int = NO_BROKER, back: int = NO_BROKER) -> None:
        self._image, self._settings, self._without, self._back = image, settings, without, back
        self._level = level_of(image)
        self.elr = image.features.get(ELR, 0) > 0
        self._rules: dict[Uuid, PartitionChangeRules] = {}

    def change(self, place: ImagePartition, target: PartitionTarget) -> list[PartitionChangeRecord]:
        """The record that brings the partition to the target; none if nothing changes."""
        record = build_partition_change(place.partition, place.topic.id, place.number, target, self.rules(place.topic))
        return [] if record is None else [record]

    def rules(self, topic: TopicImage) -> PartitionChangeRules:
        """The rules for changes of `topic`'s partitions."""
        found = self._rules.get(topic.id)
        if found is None:
            configured = _topic_value(self._image, self._settings, topic, "min.insync.replicas")
            assert isinstance(configured, int)
            found = self._rules[topic.id] = PartitionChangeRules(
                may_lead=self._may_lead,
                min_isr=min(configured, len(topic.partitions[0].replicas)),
                elr=self.elr,
                epoch_with_shrink=self._level < NO_EPOCH_BUMP_ON_SHRINK,
                default_directory=self._default_directory if self._level >= DIRECTORIES else None,
            )
        return found

    def election(self, topic: TopicImage) -> Election:
        """The default election type of this topic, if the request does not name a type."""
        return Election.UNCLEAN if unclean_election_enabled(self._image, self._settings, topic) else Election.ONLINE

    def _may_lead(self, partition: PartitionImage, broker_id: int) -> bool:
        broker = self._image.brokers.get(broker_id)
        if broker is None or broker_id == self._without or not (broker.active or broker_id == self._back):
            return False
        return is_online(directories_of(partition).get(broker_id, MIGRATING), broker.log_dirs)

    def _default_directory(self, broker_id: int) -> Uuid:
        return default_directory(self._image.brokers.get(broker_id))


def unclean_election_enabled(image: Image, settings: Settings, topic: TopicImage) -> bool:
    """Whether a replica that is not in sync may lead if no other can."""
    return bool(_topic_value(image, settings, topic, "unclean.leader.election.enable"))


def _topic_value(image: Image, settings: Settings, topic: TopicImage, name: str) -> Value:
    return topic_value(TOPIC_HERE[name], image.config_overrides(TOPIC, topic.name), settings)


def partitions_where(image: Image, which: Callable[[PartitionImage], bool]) -> Iterator[ImagePartition]:
    """The partitions that satisfy `which`: topics by name, partitions by number."""
    for _, topic_id in sorted(image.topic_ids.items()):
        topic = image.topics[topic_id]
        for index in sorted(index for index, partition in topic.partitions.items() if which(partition)):
            yield ImagePartition(topic, index)


def apply_changes(image: Image, records: Iterable[PartitionChangeRecord]) -> Image:
    """The image after these changes."""
    for record in records:
        image = partition_change(image, record)
    return image
