"""The share coordinator of a broker: the shards of `__share_group_state` that the broker leads
(KIP-932).

The hash of group id, topic id and partition selects the partition that holds the state of a share
partition. The leader of that partition is the coordinator (see FindCoordinator).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..coordinator.coordinator_runtime import CoordinatorRuntime
from ..metadata.changed_topics import removed_topics
from ..metadata.features import SHARE_VERSION
from ..metadata.image import Image
from ..metadata.internal_topics import SHARE_GROUP_STATE

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost
    from ..replica.replication.partition import Partition
    from .persister import SharePartitionKey
    from .share_coordinator_shard import ShareCoordinatorShard

PRUNE_INTERVAL = "share.coordinator.state.topic.prune.interval.ms"
COLD_INTERVAL = "share.coordinator.cold.partition.snapshot.interval.ms"


class ShareCoordinator:
    """The share partitions that this broker coordinates, and the periodic jobs of its shards.

    The jobs begin with the first shard: most clusters have no share groups. As in Kafka they do
    nothing while the cluster's `share.version` is 0.
    """

    def __init__(self, node: CoordinatorHost) -> None:
        self._node = node
        partitions_setting = "share.coordinator.state.topic.num.partitions"
        self.runtime = CoordinatorRuntime(node, SHARE_GROUP_STATE, partitions_setting, self._open_shard)
        self._has_jobs = False

    def shard(self, key: SharePartitionKey) -> ShareCoordinatorShard:
        """Returns the shard of the share partition. Raises Refusal(NOT_COORDINATOR) if it is not
        here."""
        return self.runtime.shard(key.as_coordinator_key)

    def __iter__(self) -> Iterator[ShareCoordinatorShard]:
        return iter(self.runtime)

    def image_changed(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        """Deletes the state of the share partitions of deleted topics."""
        shards = list(self)
        removed = {topic.id for topic in removed_topics(before, after, records)} if shards else set()
        for shard in shards if removed else ():
            shard.delete_topics(removed)

    def _open_shard(self, node: CoordinatorHost, partition: Partition) -> ShareCoordinatorShard:
        """Imports the shard on first use: most clusters have no share groups."""
        from .share_coordinator_shard import ShareCoordinatorShard

        if not self._has_jobs:
            self._has_jobs = True
            self._repeat(PRUNE_INTERVAL, ShareCoordinatorShard.prune)
            self._repeat(COLD_INTERVAL, ShareCoordinatorShard.snapshot_cold_partitions)
        return ShareCoordinatorShard(node, partition)

    def _repeat(self, interval: str, job: Callable[[ShareCoordinatorShard], None]) -> None:
        def due(now: int) -> None:
            self._repeat(interval, job)
            if self._node.image.features.get(SHARE_VERSION, 0):
                for shard in self:
                    job(shard)

        self._node.waiting.timers.at(self._node.now + self._node.settings.int(interval), due)

    def __repr__(self) -> str:
        return f"share {self.runtime!r}"
