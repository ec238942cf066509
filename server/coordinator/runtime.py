"""The shards of one coordinator's topic: opened when this node begins to lead a partition, closed when it no longer does.

Rules. A shard answers only when its log is folded to the end; before that the coordinator is not there for anybody. A shard whose log cannot
be folded stays closed, and its groups answer NOT_COORDINATOR, as in Kafka; the log tells why. A key belongs to the partition that its Java
hash gives, for as long as the topic has as many partitions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from kafkadouble.messages import error_codes

from ..log.files.errors import DiskFailure
from ..replica.partition import Partition
from ..requests.request import Refusal
from .java_text import partition_for
from .loading import load
from .shard import Shard

if TYPE_CHECKING:
    from ..node import Node

S = TypeVar("S", bound=Shard)

log = logging.getLogger("kafkadouble.server.coordinator")


class Runtime(Generic[S]):
    """All shards of `topic` that are led here. `partitions_setting` names the setting for how many partitions a new topic gets."""

    def __init__(
        self, node: Node, topic: str, partitions_setting: str, open_shard: Callable[[Node, Partition], S]
    ) -> None:
        self.topic = topic
        self._node, self._partitions_setting, self._open = node, partitions_setting, open_shard
        self._shards: dict[int, S] = {}
        node.partitions.listeners.append(self)

    def led(self, partition: Partition) -> None:
        """Leadership begins: fold the log."""
        if partition.topic != self.topic:
            return
        self.lost(partition)
        shard = self._open(self._node, partition)
        try:
            load(shard)
        except DiskFailure:  # the node tells of it
            return
        except Exception:
            log.exception("%r cannot be loaded", shard)
            return
        self._shards[partition.index] = shard
        shard.loaded()

    def lost(self, partition: Partition) -> None:
        """Leadership ends: drop the state."""
        if partition.topic == self.topic and (shard := self._shards.pop(partition.index, None)) is not None:
            shard.close()

    def partition_of(self, key: str) -> int:
        """The index of the partition in which `key` lives."""
        topic = self._node.controller.image.topic_named(self.topic)
        count = self._node.settings.int(self._partitions_setting) if topic is None else len(topic.partitions)
        return partition_for(key, count)

    def shard(self, key: str) -> S:
        """Where `key` lives. Refusal(NOT_COORDINATOR) when that is not here."""
        shard = self._shards.get(self.partition_of(key))
        if shard is None:
            raise Refusal(error_codes.NOT_COORDINATOR)
        return shard

    def __iter__(self) -> Iterator[S]:
        return iter(list(self._shards.values()))

    def __repr__(self) -> str:
        return f"coordinator on {len(self._shards)} partitions of {self.topic}"
