"""The group coordinator of a node: the shards of `__consumer_offsets` that it leads, and what concerns all of them.

A group lives in the partition that its id hashes to; whoever leads that partition coordinates the group (Kafka's FindCoordinator).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.remove_topic_record import RemoveTopicRecord

from ..coordinator.runtime import Runtime
from ..internal_topics import CONSUMER_OFFSETS
from ..metadata.image import Image
from ..request import Refusal
from .deletion import forget_topic
from .shard import GroupShard

if TYPE_CHECKING:
    from ..node import Node


class GroupCoordinator:
    """All groups that are coordinated here."""

    def __init__(self, node: Node) -> None:
        self.runtime = Runtime(node, CONSUMER_OFFSETS, "offsets.topic.num.partitions", GroupShard)
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

    def image_changed(self, before: Image, after: Image, records: Sequence[Any]) -> None:
        """A deleted topic takes the offsets along that were committed for it."""
        for record in records:
            if isinstance(record, RemoveTopicRecord) and (topic := before.topic(record.topic_id)) is not None:
                for shard in self:
                    forget_topic(shard, topic.name, topic.id)

    def __repr__(self) -> str:
        return f"group {self.runtime!r}"
