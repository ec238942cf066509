"""The partitions that this broker leads, kept in step with the metadata image (`ReplicaManager`).

Rules. Only a change of the image creates or removes a partition, or changes its settings. Listeners
that keep state by partition (the coordinators) are called when leadership begins and ends. A
partition whose log directory failed stays, offline. A lookup by name and index is on the hot path
and costs two dictionary reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ..configs.effective import effective_topic_config
from ..log.config import LogConfig
from ..log.files.errors import DiskFailure
from ..log.log import PartitionLog
from ..metadata.changed_topics import removed_topics
from ..metadata.image import BROKER, TOPIC, Image, PartitionImage, TopicImage
from .partition_replicas import find_replica
from .replication.partition import ANY_EPOCH, Partition, epoch_error, in_sync_replicas_of

if TYPE_CHECKING:
    from .replication.part_hosts import FollowedPartitions, ReplicaManagerHost

PARTITION_RECORDS = frozenset({"PartitionRecord", "PartitionChangeRecord"})
MAX_CONFIGS = 512
"""How many effective configs are cached. Most topics of a cluster share a few."""


class LeadershipListener(Protocol):
    """Keeps state by partition."""

    def on_election(self, partition: Partition) -> None:
        """This broker leads the partition from now on."""

    def on_resignation(self, partition: Partition) -> None:
        """This broker no longer leads the partition."""


class ReplicaManager:
    """The partitions that this broker leads."""

    def __init__(self, node: ReplicaManagerHost) -> None:
        self._node = node
        self._by_topic: dict[str, dict[int, Partition]] = {}
        self._configs: dict[Mapping[str, str], LogConfig] = {}
        self.listeners: list[LeadershipListener] = []

    def get(self, topic: str, index: int) -> Partition | None:
        of_topic = self._by_topic.get(topic)
        return None if of_topic is None else of_topic.get(index)

    def code_of_missing(self, topic: str, index: int, current_leader_epoch: int = ANY_EPOCH) -> int:
        """Returns the error for a partition that this broker does not lead.

        If the broker has a replica, a wrong leader epoch is the first error.
        """
        found = self._in_metadata(topic, index)
        if found is None:
            return error_codes.UNKNOWN_TOPIC_OR_PARTITION
        wrong = self._node.id in found.replicas and epoch_error(found.leader_epoch, current_leader_epoch)
        return wrong or error_codes.NOT_LEADER_OR_FOLLOWER

    def leader_of(self, topic: str, index: int) -> tuple[int, int]:
        """Returns leader id and leader epoch (KIP-951); -1 for no leader, or no partition."""
        found = self._in_metadata(topic, index)
        return (-1, -1) if found is None else (found.leader, found.leader_epoch)

    def _in_metadata(self, topic: str, index: int) -> PartitionImage | None:
        found = self._node.image.topic_named(topic)
        return None if found is None else found.partitions.get(index)

    def of_topic(self, topic: str) -> Mapping[int, Partition]:
        """Returns the partitions of one topic that this broker leads, by index."""
        return self._by_topic.get(topic, {})

    def __iter__(self) -> Iterator[Partition]:
        for partitions in self._by_topic.values():
            yield from partitions.values()

    def image_changed(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        """Applies a change of the image. It costs as much as the records touch, not as all
        topics."""
        for removed in removed_topics(before, after, records):
            for partition in self._by_topic.pop(removed.name, {}).values():
                self._resign(partition)
            for index in removed.partitions:
                if self._node.fetchers is not None:
                    self._node.fetchers.forget((removed.id, index))
                self._node.logs.delete(removed.name, removed.id, index, self._node.now)
        if before.configs is not after.configs:
            self._reconfigure(records, before, after)
        touched: dict[Uuid, set[int]] = {}
        if records is None:
            # By name: the order of a map of ids is another one in each process.
            by_name = sorted(after.topics.values(), key=attrgetter("name"))
            touched = {topic.id: set(topic.partitions) for topic in by_name}
        for record in records or ():
            if type(record).__name__ in PARTITION_RECORDS:
                touched.setdefault(record.topic_id, set()).add(record.partition_id)
        for topic_id, indexes in touched.items():
            topic = after.topic(topic_id)
            if topic is not None:
                self._follow(topic, sorted(indexes), after)

    def _follow(self, topic: TopicImage, indexes: Iterable[int], image: Image) -> None:
        led = self._by_topic.setdefault(topic.name, {})
        for index in indexes:
            partition = topic.partitions[index]
            if partition.leader != self._node.id:
                was_led = index in led and not led[index].offline
                if was_led:
                    self._resign(led.pop(index))
                if self._node.fetchers is not None:
                    self._fetch(self._node.fetchers, topic, index, image, was_led)
                continue
            if self._node.fetchers is not None:
                self._node.fetchers.forget((topic.id, index))
            if index in led:
                led[index].apply_image(partition, self._node.now)
            else:
                self._add(led, self._opened(topic, index, self.config_of(topic.name, image)))

    def _opened(self, topic: TopicImage, index: int, config: LogConfig) -> Partition:
        node, partition = self._node, topic.partitions[index]
        epoch = partition.leader_epoch
        try:
            log = self._open_log(topic, index, config)
            return Partition(
                topic.id, node.id, epoch, log, node.flushing, in_sync_replicas_of(partition, node.id, log, node.now)
            )
        except DiskFailure:
            without = Partition(topic.id, node.id, epoch, PartitionLog(topic.name, index, config))
            without.take_offline()
            return without

    def _fetch(self, fetchers: FollowedPartitions, topic: TopicImage, index: int, image: Image, was_led: bool) -> None:
        """Follows a partition of another leader, or deletes it if it has no replica here."""
        node, partition, key = self._node, topic.partitions[index], (topic.id, index)
        known = fetchers.partitions.get(key)
        if node.id not in partition.replicas:
            if fetchers.forget(key) is not None or was_led:
                node.logs.delete(topic.name, topic.id, index, node.now)
            return
        if known is not None and (known.leader_id, known.leader_epoch) == (partition.leader, partition.leader_epoch):
            return
        from .replication.follower_partition import FollowerPartition  # most nodes follow none

        with suppress(DiskFailure):  # the node reports it
            log = self._open_log(topic, index, self.config_of(topic.name, image))
            fetchers.follow(FollowerPartition(topic.id, log, partition.leader, partition.leader_epoch))

    def _open_log(self, topic: TopicImage, index: int, config: LogConfig) -> PartitionLog:
        """Opens a log. If its replica was being moved when the node stopped, the move continues."""
        node, key = self._node, (topic.name, index)
        log = node.logs.open(topic.name, topic.id, index, config, node.now)
        if node.logs.future_logs and key in node.logs.future_logs:
            node.replica_alter_log_dirs_manager.resume(key, topic.id, config)
        return log

    def _add(self, led: dict[int, Partition], partition: Partition) -> None:
        led[partition.index] = partition
        if not partition.offline:
            for listener in self.listeners:
                listener.on_election(partition)

    def take_offline(self, partitions: Iterable[tuple[str, int]]) -> None:
        """The log directory of these partitions failed."""
        for topic, index in partitions:
            partition = self.get(topic, index)
            if partition is not None and not partition.offline:
                partition.take_offline()
                self._resign(partition)

    def _resign(self, partition: Partition) -> None:
        for listener in self.listeners:
            listener.on_resignation(partition)
        partition.wake_waiters()

    def _reconfigure(self, records: Sequence[Any] | None, before: Image, after: Image) -> None:
        topics = {
            record.resource_name
            for record in records or ()
            if type(record).__name__ == "ConfigRecord" and record.resource_type == TOPIC
        }
        if records is None or any(
            before.config_overrides(BROKER, name) != after.config_overrides(BROKER, name)
            for name in ("", str(self._node.id))
        ):
            self._configs.clear()
            topics = set(self._by_topic)
        for topic in topics & self._by_topic.keys():
            config = self.config_of(topic, after)
            image = after.topic_named(topic)
            for index in () if image is None else image.partitions:
                replica = find_replica(self._node, topic, index)
                if replica is not None:
                    replica.log.config = config

    def config_of(self, topic: str, image: Image) -> LogConfig:
        """Returns the config of a topic: its overrides over the broker's settings."""
        overrides = image.config_overrides(TOPIC, topic)
        config = self._configs.get(overrides)
        if config is None:
            if len(self._configs) >= MAX_CONFIGS:
                self._configs.clear()
            config = LogConfig.of(effective_topic_config(overrides, self._node.settings))
            self._configs[overrides] = config
        return config
