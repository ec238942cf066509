"""Offsets whose time is over, and groups that have nothing left (KIP-211, `offsets.retention.minutes`).

Rules. The offsets of an empty group expire together, counted from when it became empty; those of a group that only commits, or of topics that
a stable group of consumers reads no longer, each from its own commit. What an open transaction may still change stays, and so does its group.
An empty group without offsets is deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..coordinator.record import CoordinatorRecord
from .offset_records import offset_tombstone

if TYPE_CHECKING:
    from .group import Group
    from .shard import GroupShard


def expire(shard: GroupShard) -> None:
    """Delete what has expired; a group goes after its offsets."""
    retention = shard.node.settings.int("offsets.retention.minutes") * 60_000
    for group in list(shard.groups.values()):
        records = _expired(shard, group, retention)
        nothing_left = len(records) == len(shard.offsets.places(group.id))
        if nothing_left and group.is_empty:
            records += group.tombstones()
        shard.write_apart(records)


def _expired(shard: GroupShard, group: Group, retention: int) -> list[CoordinatorRecord]:
    pending = shard.offsets.pending_of(group.id)
    return [
        offset_tombstone(place)
        for place, offset in shard.offsets.stable.items(group.id)
        if place not in pending
        and not group.subscribes_to(place.topic)
        and (since := group.retained_since(offset)) is not None
        and offset.expired(shard.now, since, retention)
    ]
