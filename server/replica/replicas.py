"""The replicas that this node holds, as leader or as follower: what is done to both kinds alike.

Rules. Retention, compaction, flushes and settings concern every replica, as in Kafka. A replica is
looked up anew before each step: an election makes a new leader or follower of the same log.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from ..log.log import PartitionLog

if TYPE_CHECKING:
    from ..node import Node


class PartitionReplica(Protocol):
    """What a partition that is led here has in common with one that is followed."""

    topic: str
    index: int
    log: PartitionLog

    def wake_waiters(self) -> None:
        """Wake all that waits at it: its log has changed by other means than an append."""

    def flushed(self, offset: int) -> None:
        """A flush of everything below `offset` was done."""


def all_replicas(node: Node) -> Iterator[PartitionReplica]:
    """Every replica of the node."""
    followed = () if node.fetchers is None else node.fetchers.partitions.values()
    return chain(node.partitions, followed)


def find_replica(node: Node, topic: str, index: int) -> PartitionReplica | None:
    """The replica of this partition; None if the node has none."""
    led = node.partitions.get(topic, index)
    return node.fetchers.get(topic, index) if led is None and node.fetchers is not None else led
