"""The group coordinator of a node: the shards of `__consumer_offsets` that it leads, and what concerns all of them.

A group lives in the partition that its id hashes to; whoever leads that partition coordinates the group (Kafka's FindCoordinator).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes

from ..coordinator.runtime import Runtime
from ..metadata.image import Image
from ..metadata.internal_topics import CONSUMER_OFFSETS
from ..metadata.removed_topics import removed_topics
from ..requests.request import Refusal

if TYPE_CHECKING:
    from ..node import Node
    from ..replica.partition import Partition
    from .shard import GroupShard


class GroupCoordinator:
    """All groups that are coordinated here."""

    def __init__(self, node: Node) -> None:
        self.runtime = Runtime(node, CONSUMER_OFFSETS, "offsets.topic.num.partitions", _opened)
        node.controller.listeners.append(self.image_changed)

    def shard(self, group_id: str) -> GroupShard:
        """Where the group lives. Refusal(NOT_COORDINATOR) when that is not here."""
        return self.runtime.shard(group_id)

    def shard_of_named(self, group_id: str) -> GroupShard:
        """The same for the APIs that want a group to have a name: Refusal(INVALID_GROUP_ID) for an empty one."""
        if not group_id:
            raise Refusal(error_codes.INVALID_GROUP_ID)
        return self.runtime.shard(group_id)

    def __iter__(self) -> Iterator[GroupShard]:
        return iter(self.runtime)

    def image_changed(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        """A deleted topic takes the offsets along that were committed for it."""
        for topic in removed_topics(before, after, records):
            for shard in self:
                from .deletion import forget_topic  # where no group is, nothing of groups is imported

                forget_topic(shard, topic.name, topic.id)

    def __repr__(self) -> str:
        return f"group {self.runtime!r}"


def _opened(node: Node, partition: Partition) -> GroupShard:
    """The first one brings what groups need: most of what this package has."""
    from .shard import GroupShard

    return GroupShard(node, partition)
