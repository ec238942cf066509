"""Expires offsets, and deletes groups that have neither members nor offsets (KIP-211), except share
groups.

Rules. `offsets.retention.minutes` is the retention. The offsets of an empty group expire together,
counted from the time when the group became empty. Each offset expires from its own commit if its
group only commits offsets, or if no member of a stable consumer group subscribes to its topic. An
offset that an open transaction may still change does not expire, and its group is not deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..coordinator.coordinator_record import CoordinatorRecord
from .offset_records import offset_tombstone

if TYPE_CHECKING:
    from .coordinator_group import CoordinatorGroup
    from .group_coordinator_shard import GroupCoordinatorShard


def expire_offsets(shard: GroupCoordinatorShard) -> None:
    """Delete expired offsets, and empty groups without offsets."""
    retention_ms = shard.node.settings.int("offsets.retention.minutes") * 60_000
    for group in list(shard.groups.values()):
        records = _expired(shard, group, retention_ms)
        all_expired = len(records) == len(shard.offsets.keys_of_group(group.group_id))
        if all_expired and group.expires and group.is_empty:
            records += group.tombstones()
        shard.write_in_batches(records)


def _expired(shard: GroupCoordinatorShard, group: CoordinatorGroup, retention_ms: int) -> list[CoordinatorRecord]:
    pending = shard.offsets.pending_keys_of_group(group.group_id)
    return [
        offset_tombstone(key)
        for key, offset in shard.offsets.stable.items(group.group_id)
        if key not in pending
        and not group.is_subscribed_to_topic(key.topic)
        and (retention_start := group.offset_retention_start(offset)) is not None
        and offset.is_expired(shard.now, retention_start, retention_ms)
    ]
