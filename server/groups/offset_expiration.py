"""Expires offsets, and deletes groups that have neither members nor offsets (KIP-211), except share
groups.

Rules. `offsets.retention.minutes` is the retention. The offsets of an empty group expire together,
counted from the time when the group became empty. Each offset expires from its own commit if its
group only commits offsets, or if no member of a stable consumer group subscribes to its topic. An
offset that an open transaction may still change does not expire, and its group is not deleted.
"""

from __future__ import annotations

from ..coordinator.coordinator_record import CoordinatorRecord
from .coordinator_group import CoordinatorGroup
from .offset_metadata_manager import OffsetMetadataManager
from .offset_records import offset_tombstone


def expired_records(
    group: CoordinatorGroup, offsets: OffsetMetadataManager, now: int, retention_ms: int
) -> list[CoordinatorRecord]:
    """Returns the tombstones of expired offsets of a group, and its own if it is empty without
    them."""
    records = _expired_offsets(group, offsets, now, retention_ms)
    all_expired = len(records) == len(offsets.keys_of_group(group.group_id))
    if all_expired and group.expires and group.is_empty:
        records += group.tombstones()
    return records


def _expired_offsets(
    group: CoordinatorGroup, offsets: OffsetMetadataManager, now: int, retention_ms: int
) -> list[CoordinatorRecord]:
    pending = offsets.pending_keys_of_group(group.group_id)
    return [
        offset_tombstone(key)
        for key, offset in offsets.stable.items(group.group_id)
        if key not in pending
        and not group.is_subscribed_to_topic(key.topic)
        and (retention_start := group.offset_retention_start(offset)) is not None
        and offset.is_expired(now, retention_start, retention_ms)
    ]
