"""The groups and offsets of one partition of `__consumer_offsets`, and the offset expiration.

A shard knows no type of group: what its records mean is in `replay`.

Offsets expire, and groups that have neither members nor offsets are deleted (KIP-211), except share
groups. `offsets.retention.minutes` is the retention. The offsets of an empty group expire together,
counted from the time when the group became empty. Each offset expires from its own commit if its
group only commits offsets, or if no member of a stable consumer group subscribes to its topic. An
offset that an open transaction may still change does not expire, and its group is not deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message

from ..configs.definition import Value
from ..configs.effective import effective_group_value
from ..coordinator.coordinator_shard import CoordinatorShard
from ..coordinator.coordinator_timer import CoordinatorTimer
from ..metadata.image import GROUP
from ..replica.replication.partition import Partition
from ..requests.request import Refusal
from ..requests.timers import Timer
from .coordinator_group import CoordinatorGroup
from .offset_metadata_manager import OffsetMetadataManager
from .offset_records import offset_tombstone

if TYPE_CHECKING:
    from .host import GroupHost


Replay: TypeAlias = "Callable[[GroupCoordinatorShard, int, int, Message, Message | None], None]"
"""Applies one record to a shard: its offset, the producer id, its key and its value."""


G = TypeVar("G", bound=CoordinatorGroup)


class ShardOwner(Protocol):
    """The group coordinator, as its shards see it."""

    def shard(self, group_id: str) -> GroupCoordinatorShard:
        """Returns the shard that has the group now. Raises Refusal(NOT_COORDINATOR)."""
        ...

    @property
    def replay(self) -> Replay: ...


class GroupCoordinatorShard(CoordinatorShard):
    """The groups and offsets of one partition."""

    commit_timeout_setting = "offsets.commit.timeout.ms"

    node: GroupHost

    def __init__(self, node: GroupHost, partition: Partition, coordinator: ShardOwner) -> None:
        super().__init__(node, partition)
        self.coordinator = coordinator
        self.groups: dict[str, CoordinatorGroup] = {}
        self.offsets = OffsetMetadataManager()
        self.timers = CoordinatorTimer(self)
        """The timers of groups of the newer protocols."""
        self.topic_hashes: dict[str, int] = {}
        """Topic name -> the hash of the topic, for those that groups subscribe to (KIP-1101)."""
        self.topics_created_at = node.image.end.offset
        """The end offset of the latest metadata image with new topics. A regular expression that
        was resolved in an older one must be resolved again."""
        self._expiration_timer: Timer | None = None

    def typed_group(self, group_id: str, kind: type[G]) -> G:
        """Returns the group. Raises Refusal(GROUP_ID_NOT_FOUND) if there is none of this class."""
        group = self.groups.get(group_id)
        if group is None:
            raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, kind):
            raise Refusal(error_codes.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a {kind.type} group.")
        return group

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        self.coordinator.replay(self, offset, producer_id, key, value)

    def replay_end_transaction_marker(self, producer_id: int, committed: bool) -> None:
        self.offsets.end_transaction(producer_id, committed)

    def group_config(self, group_id: str, name: str) -> Value:
        """Returns the effective configuration of a group: its own, else the broker's."""
        return effective_group_value(name, self.node.image.config_overrides(GROUP, group_id), self.node.settings)

    def int_group_config(self, group_id: str, name: str) -> int:
        """Returns the same, of a configuration that is a number."""
        value = self.group_config(group_id, name)
        assert isinstance(value, int)
        return value

    def on_topics_changed(self, names: Set[str]) -> None:
        """These topics were created, changed or deleted: their subscribers look at them again."""
        for name in names:
            self.topic_hashes.pop(name, None)
        for group in self.groups.values():
            group.on_topics_changed(names)

    def on_loaded(self) -> None:
        for group in list(self.groups.values()):
            group.on_loaded()
        self._schedule_expiration()

    def _schedule_expiration(self) -> None:
        interval_ms = self.node.settings.int("offsets.retention.check.interval.ms")
        self._expiration_timer = self.schedule(interval_ms, self._expire_offsets)

    def _expire_offsets(self, now: int) -> None:
        retention_ms = self.node.settings.int("offsets.retention.minutes") * 60_000
        for group in list(self.groups.values()):
            pending = self.offsets.pending_keys_of_group(group.group_id)
            records = [
                offset_tombstone(key)
                for key, offset in self.offsets.stable.items(group.group_id)
                if key not in pending
                and not group.is_subscribed_to_topic(key.topic)
                and (retention_start := group.offset_retention_start(offset)) is not None
                and offset.is_expired(self.now, retention_start, retention_ms)
            ]
            all_expired = len(records) == len(self.offsets.keys_of_group(group.group_id))
            if all_expired and group.expires and group.is_empty:
                records += group.tombstones()
            self.write_in_batches(records)
        self._schedule_expiration()

    def on_unloaded(self) -> None:
        if self._expiration_timer is not None:
            self._expiration_timer.cancel()
        self.timers.cancel_all()
        for group in self.groups.values():
            group.on_unloaded()
