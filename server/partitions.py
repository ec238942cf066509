"""The partitions that this node leads, kept in step with the metadata image.

Rules. A partition comes into being, goes, or obeys other settings only because the image changed; those who keep state by partition (the
coordinators) are told when leadership begins and ends. A partition whose log directory has failed stays, offline. Look-ups by name and index
are the hot path and cost two dictionary reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.uuid import Uuid

from .configs.effective import effective_topic_config
from .log.config import LogConfig
from .log.files.errors import DiskFailure
from .log.log import PartitionLog
from .metadata.image import BROKER, TOPIC, Image, TopicImage
from .partition import Partition

if TYPE_CHECKING:
    from .node import Node

ABOUT_PARTITIONS = frozenset({"PartitionRecord", "PartitionChangeRecord"})
MOST_CONFIGS = 512
"""Sets of overrides whose outcome is remembered: most topics of a cluster share a few."""


class Listener(Protocol):
    """Somebody who keeps state by partition."""

    def led(self, partition: Partition) -> None:
        """This node leads it from now on."""

    def lost(self, partition: Partition) -> None:
        """This node leads it no longer."""


class Partitions:
    """All partitions led here."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._by_topic: dict[str, dict[int, Partition]] = {}
        self._configs: dict[Mapping[str, str], LogConfig] = {}
        self.listeners: list[Listener] = []

    def get(self, topic: str, index: int) -> Partition | None:
        of_topic = self._by_topic.get(topic)
        return None if of_topic is None else of_topic.get(index)

    def of_topic(self, topic: str) -> Mapping[int, Partition]:
        """The partitions of one topic that are led here, by index."""
        return self._by_topic.get(topic, {})

    def __iter__(self) -> Iterator[Partition]:
        for partitions in self._by_topic.values():
            yield from partitions.values()

    def image_changed(self, before: Image, after: Image, records: Sequence[Any]) -> None:
        """Follow the image; only what the records touch is looked at, however many topics there are."""
        touched: dict[Uuid, set[int]] = {}
        for record in records:
            kind = type(record).__name__
            if kind == "RemoveTopicRecord":
                self._forget(before.topic(record.topic_id))
            elif kind in ABOUT_PARTITIONS:
                touched.setdefault(record.topic_id, set()).add(record.partition_id)
        if before.configs is not after.configs:
            self._reconfigure(records, before, after)
        for topic_id, indexes in touched.items():
            topic = after.topic(topic_id)
            if topic is not None:
                self._follow(topic, sorted(indexes), after)

    def _forget(self, topic: TopicImage | None) -> None:
        if topic is not None:
            for partition in self._by_topic.pop(topic.name, {}).values():
                self._lost(partition)
            for index in topic.partitions:
                self._node.logs.delete(topic.name, topic.id, index, self._node.now)

    def _follow(self, topic: TopicImage, indexes: Iterable[int], image: Image) -> None:
        led = self._by_topic.setdefault(topic.name, {})
        for index in indexes:
            partition = topic.partitions[index]
            if partition.leader != self._node.id:
                if index in led and not led[index].offline:
                    self._lost(led.pop(index))
            elif index in led:
                led[index].lead(partition.leader_epoch)
            else:
                config = self.config_of(topic.name, image)
                self._led(led, self._opened(topic, index, partition.leader_epoch, config))

    def _opened(self, topic: TopicImage, index: int, epoch: int, config: LogConfig) -> Partition:
        node = self._node
        try:
            log = node.logs.open(topic.name, topic.id, index, config, node.now)
            return Partition(topic.id, node.id, epoch, log, node.flushing)
        except DiskFailure:
            without = Partition(topic.id, node.id, epoch, PartitionLog(topic.name, index, config))
            without.take_offline()
            return without

    def _led(self, led: dict[int, Partition], partition: Partition) -> None:
        led[partition.index] = partition
        if not partition.offline:
            for listener in self.listeners:
                listener.led(partition)

    def take_offline(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Their log directory has failed."""
        for topic, index in partitions:
            partition = self.get(topic, index)
            if partition is not None and not partition.offline:
                partition.take_offline()
                self._lost(partition)

    def _lost(self, partition: Partition) -> None:
        for listener in self.listeners:
            listener.lost(partition)
        partition.waiters.wake_all()

    def _reconfigure(self, records: Sequence[Any], before: Image, after: Image) -> None:
        topics = {
            record.resource_name
            for record in records
            if type(record).__name__ == "ConfigRecord" and record.resource_type == TOPIC
        }
        if any(
            before.config_overrides(BROKER, name) != after.config_overrides(BROKER, name)
            for name in ("", str(self._node.id))
        ):
            self._configs.clear()
            topics = set(self._by_topic)
        for topic in topics & self._by_topic.keys():
            config = self.config_of(topic, after)
            for partition in self._by_topic[topic].values():
                partition.log.config = config

    def config_of(self, topic: str, image: Image) -> LogConfig:
        """What holds for a topic: its own overrides over the broker's settings, dynamic and static."""
        overrides = image.config_overrides(TOPIC, topic)
        config = self._configs.get(overrides)
        if config is None:
            if len(self._configs) >= MOST_CONFIGS:
                self._configs.clear()
            config = LogConfig.of(effective_topic_config(overrides, self._node.settings))
            self._configs[overrides] = config
        return config
