"""The groups of one partition of `__consumer_offsets`: the fold of its records, and the timer that looks for what has expired.

Which record changes what stands in FOLDS; a kind of record that is not there is somebody else's, or of a later time, and is passed over as
Kafka does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kafkadouble.messages.generated.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from kafkadouble.messages.message import Message

from ..coordinator.shard import Shard
from ..replica.partition import Partition
from ..requests.timers import Timer
from . import expiry
from .classic.group import ClassicGroup
from .classic.restore import restore
from .group import Group
from .offset_records import committed_of, place_of
from .offsets import Offsets

if TYPE_CHECKING:
    from ..node import Node


class GroupShard(Shard):
    """The groups and offsets of one partition."""

    commit_timeout_setting = "offsets.commit.timeout.ms"

    def __init__(self, node: Node, partition: Partition) -> None:
        super().__init__(node, partition)
        self.groups: dict[str, Group] = {}
        self.offsets = Offsets()
        self._expiry: Timer | None = None

    def fold(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        fold = FOLDS.get(type(key))
        if fold is not None:
            fold(self, offset, producer_id, key, value)

    def end_transaction(self, producer_id: int, committed: bool) -> None:
        self.offsets.end_transaction(producer_id, committed)

    def fold_group(
        self, offset: int, producer_id: int, key: GroupMetadataKey, value: GroupMetadataValue | None
    ) -> None:
        """A classic group as it was written down, or its end."""
        if value is None:
            self.groups.pop(key.group, None)
        else:
            self.groups[key.group] = restore(self, key.group, value)

    def fold_offset(self, offset: int, producer_id: int, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        """A committed offset, or its end; the offset of an unknown group is what makes a group that only commits."""
        if value is None:
            self.offsets.remove(place_of(key))
            return
        if key.group not in self.groups:
            self.groups[key.group] = ClassicGroup(self, key.group)
        self.offsets.put(producer_id, place_of(key), committed_of(offset, value))

    def loaded(self) -> None:
        for group in list(self.groups.values()):
            group.loaded()
        self._await_expiry()

    def _await_expiry(self) -> None:
        self._expiry = self.at(self.node.settings.int("offsets.retention.check.interval.ms"), self._expire)

    def _expire(self, now: int) -> None:
        expiry.expire(self)
        self._await_expiry()

    def unloaded(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        for group in self.groups.values():
            group.unloaded()


FOLDS: dict[type[Message], Any] = {
    GroupMetadataKey: GroupShard.fold_group,
    OffsetCommitKey: GroupShard.fold_offset,
}
"""The class of a record's key -> what it changes."""
