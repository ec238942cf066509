"""The groups and offsets of one partition of `__consumer_offsets`, and the offset expiration.

REPLAY says which record changes what. The records of consumer, share and streams groups are
replayed by the table in `replay.py` of their package, which is imported on the first such record. A
record of any other type belongs to a newer version, and is ignored, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Set
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kafkadouble.messages.generated.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from kafkadouble.messages.message import Message

from ..configs.definition import Value
from ..configs.effective import effective_group_value
from ..coordinator.coordinator_shard import CoordinatorShard
from ..coordinator.coordinator_timer import CoordinatorTimer
from ..metadata.image import GROUP
from ..replica.partition import Partition
from ..requests.timers import Timer
from . import offset_expiration
from .classic.group import ClassicGroup
from .coordinator_group import CoordinatorGroup
from .offset_metadata_manager import OffsetMetadataManager
from .offset_records import offset_and_metadata_of, offset_key_of

if TYPE_CHECKING:
    from .host import GroupHost


class GroupCoordinatorShard(CoordinatorShard):
    """The groups and offsets of one partition."""

    commit_timeout_setting = "offsets.commit.timeout.ms"

    node: GroupHost

    def __init__(self, node: GroupHost, partition: Partition) -> None:
        super().__init__(node, partition)
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

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        replay = REPLAY.get(type(key))
        if replay is not None:
            replay(self, offset, producer_id, key, value)
        elif (replay_group := replay_of_group(type(key))) is not None:
            replay_group(self, key, value)

    def replay_end_transaction_marker(self, producer_id: int, committed: bool) -> None:
        self.offsets.end_transaction(producer_id, committed)

    def replay_group_metadata(
        self, offset: int, producer_id: int, key: GroupMetadataKey, value: GroupMetadataValue | None
    ) -> None:
        """Replace or delete a classic group."""
        if value is None:
            self.groups.pop(key.group, None)
        else:
            self.groups[key.group] = ClassicGroup.loaded_from(self, key.group, value)

    def replay_offset_commit(
        self, offset: int, producer_id: int, key: OffsetCommitKey, value: OffsetCommitValue | None
    ) -> None:
        """Set or delete an offset. The first offset of an unknown group creates an empty group."""
        if value is None:
            self.offsets.remove(offset_key_of(key))
            return
        if key.group not in self.groups:
            self.groups[key.group] = ClassicGroup(self, key.group)
        self.offsets.put(producer_id, offset_key_of(key), offset_and_metadata_of(offset, value))

    def group_config(self, group_id: str, name: str) -> Value:
        """Return the effective configuration of a group: its own, else the broker's."""
        return effective_group_value(name, self.node.image.config_overrides(GROUP, group_id), self.node.settings)

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
        offset_expiration.expire_offsets(self)
        self._schedule_expiration()

    def on_unloaded(self) -> None:
        if self._expiration_timer is not None:
            self._expiration_timer.cancel()
        self.timers.cancel_all()
        for group in self.groups.values():
            group.on_unloaded()


REPLAY: dict[type[Message], Any] = {
    GroupMetadataKey: GroupCoordinatorShard.replay_group_metadata,
    OffsetCommitKey: GroupCoordinatorShard.replay_offset_commit,
}
"""Class of a record's key -> the method that applies the record."""

PACKAGES = {"ConsumerGroup": "consumer", "ShareGroup": "share", "StreamsGroup": "streams"}
"""How the names of a package's records begin -> the package with their `replay.py`."""


def replay_of_group(key_type: type[Message]) -> Any:
    """Return the function that replays a record of a newer protocol; None if it is unknown."""
    name = key_type.__name__
    package = next((package for prefix, package in PACKAGES.items() if name.startswith(prefix)), None)
    return None if package is None else _replay_table(package).get(key_type)


@cache
def _replay_table(package: str) -> dict[type[Message], Any]:
    table: dict[type[Message], Any] = import_module(f".{package}.replay", __package__).REPLAY
    return table
