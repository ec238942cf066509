"""The partitions that this node leads, kept in step with the metadata image.

Rules. A partition comes into being, goes, or obeys other settings only because the image changed; those who keep state by partition (the
coordinators) are told when leadership begins and ends. Look-ups by name and index are the hot path and cost two dictionary reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.generated.config_record import ConfigRecord

from .configs.effective import effective_topic_config
from .log.config import LogConfig
from .metadata.image import BROKER, TOPIC, Image, TopicImage
from .partition import Partition

if TYPE_CHECKING:
    from .node import Node


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
        self.listeners: list[Listener] = []

    def get(self, topic: str, index: int) -> Partition | None:
        of_topic = self._by_topic.get(topic)
        return None if of_topic is None else of_topic.get(index)

    def of_topic(self, topic: str) -> dict[int, Partition]:
        """The partitions of one topic that are led here, by index."""
        return self._by_topic.get(topic, {})

    def __iter__(self) -> Iterator[Partition]:
        for partitions in self._by_topic.values():
            yield from partitions.values()

    def image_changed(self, before: Image, after: Image, records: Sequence[Any]) -> None:
        """Follow the image; only what the records touch is looked at, however many topics there are."""
        for topic_id in {record.topic_id for record in records if hasattr(record, "topic_id")}:
            self._follow(before.topic(topic_id), after.topic(topic_id), after)
        if before.configs is not after.configs:
            self._reconfigure({r.resource_name for r in records if isinstance(r, ConfigRecord)}, before, after)

    def _follow(self, before: TopicImage | None, after: TopicImage | None, image: Image) -> None:
        if after is None:
            if before is not None:
                for partition in self._by_topic.pop(before.name, {}).values():
                    self._lost(partition)
            return
        led = self._by_topic.setdefault(after.name, {})
        for index, partition in after.partitions.items():
            if partition.leader == self._node.id and index not in led:
                config = self.config_of(after.name, image)
                led[index] = Partition(after.name, after.id, index, partition.leader_epoch, config)
                for listener in self.listeners:
                    listener.led(led[index])

    def _lost(self, partition: Partition) -> None:
        for listener in self.listeners:
            listener.lost(partition)
        partition.waiters.wake_all()

    def _reconfigure(self, names: set[str], before: Image, after: Image) -> None:
        everybody = any(
            before.config_overrides(BROKER, name) != after.config_overrides(BROKER, name)
            for name in ("", str(self._node.id))
        )
        for topic in list(self._by_topic) if everybody else names & self._by_topic.keys():
            config = self.config_of(topic, after)
            for partition in self._by_topic[topic].values():
                partition.log.config = config

    def config_of(self, topic: str, image: Image) -> LogConfig:
        """What holds for a topic: its own overrides over the broker's settings, dynamic and static."""
        of_all, own = image.config_overrides(BROKER, ""), image.config_overrides(BROKER, str(self._node.id))
        settings = self._node.settings.altered(of_all, own)
        return LogConfig.of(effective_topic_config(image.config_overrides(TOPIC, topic), settings))
