"""The group coordinator of a broker: the shards of `__consumer_offsets` that the broker leads.

The hash of a group id selects the partition that holds the group. The leader of the partition is
the coordinator of the group (see FindCoordinator).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes

from ...coordinator.coordinator_runtime import CoordinatorRuntime
from ...metadata.changed_topics import changed_topic_names, removed_topics
from ...metadata.image import Image
from ...metadata.internal_topics import CONSUMER_OFFSETS
from ...requests.request import Refusal

if TYPE_CHECKING:
    from ...coordinator.host import CoordinatorHost
    from ...replica.replication.partition import Partition
    from ..group_coordinator_shard import GroupCoordinatorShard, Replay
    from ..host import GroupHost
    from ..streams.internal_topic_creation import InternalTopicCreation


class GroupCoordinator:
    """The groups that this broker coordinates."""

    def __init__(self, node: GroupHost) -> None:
        self._node = node
        partitions_setting = "offsets.topic.num.partitions"
        self.runtime = CoordinatorRuntime(node, CONSUMER_OFFSETS, partitions_setting, self._open_shard)

    @cached_property
    def internal_topics(self) -> InternalTopicCreation:
        """Creates the internal topics of streams groups."""
        from ..streams.internal_topic_creation import (
            InternalTopicCreation,  # most brokers need none
        )

        return InternalTopicCreation(self._node)

    def shard(self, group_id: str) -> GroupCoordinatorShard:
        """Returns the shard of the group. Raises Refusal(NOT_COORDINATOR) if it is not here."""
        return self.runtime.shard(group_id)

    def shard_of_named(self, group_id: str) -> GroupCoordinatorShard:
        """Does the same for an API that refuses an empty group id (INVALID_GROUP_ID)."""
        if not group_id:
            raise Refusal(error_codes.INVALID_GROUP_ID)
        return self.runtime.shard(group_id)

    def __iter__(self) -> Iterator[GroupCoordinatorShard]:
        return iter(self.runtime)

    def image_changed(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        """Deletes what groups have of deleted topics, and lets subscribers look at changed
        topics."""
        shards = list(self)
        if not shards:
            return
        if removed := removed_topics(before, after, records):
            from .deletion import delete_topics  # not needed without groups

            for shard in shards:
                delete_topics(shard, removed)
        changed = changed_topic_names(before, after, records)
        has_new_topics = any(name not in before.topic_ids for name in changed)
        for shard in shards if changed else ():
            if has_new_topics:
                shard.topics_created_at = after.end.offset
            shard.on_topics_changed(changed)

    def _open_shard(self, node: CoordinatorHost, partition: Partition) -> GroupCoordinatorShard:
        """Imports the shard on first use: it brings most of this package."""
        from ..group_coordinator_shard import GroupCoordinatorShard

        return GroupCoordinatorShard(self._node, partition, self)

    @cached_property
    def replay(self) -> Replay:
        """The function that applies one record to a shard."""
        from .replay import replay  # not needed without groups

        return replay

    def __repr__(self) -> str:
        return f"group {self.runtime!r}"
