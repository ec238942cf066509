"""The replicas of a broker, led or followed: what applies to both kinds.

Retention, compaction, flushes and settings concern every replica, as in Kafka. Look a replica up
again before each step: an election creates a new leader or follower object for the same log.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from kafkadouble.messages.uuid import Uuid

from ..log.log import PartitionLog

if TYPE_CHECKING:
    from .replication.part_hosts import LedAndFollowed


class PartitionReplica(Protocol):
    """The common base of led partitions and followed partitions."""

    topic: str
    topic_id: Uuid
    index: int
    log: PartitionLog

    def wake_waiters(self) -> None:
        """Wakes waiting requests: the log changed by other means than an append."""

    def flushed(self, offset: int) -> None:
        """Everything below `offset` is flushed."""


def all_replicas(node: LedAndFollowed) -> Iterator[PartitionReplica]:
    """Iterates over every replica of the broker."""
    followed = () if node.fetchers is None else node.fetchers.partitions.values()
    return chain(node.partitions, followed)


def find_replica(node: LedAndFollowed, topic: str, index: int) -> PartitionReplica | None:
    """Returns the broker's replica of this partition; None if it has none."""
    led = node.partitions.get(topic, index)
    return node.fetchers.get(topic, index) if led is None and node.fetchers is not None else led
