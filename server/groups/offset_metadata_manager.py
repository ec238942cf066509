"""The committed offsets of one shard's groups, and the offsets of open transactions.

Rules. The latest record wins. The offsets of an open transaction are pending, by producer id. A
commit marker makes them stable, except where a later record is already stable; an abort marker
drops them. A tombstone also deletes pending offsets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from .offset_and_metadata import OffsetAndMetadata


class OffsetKey(NamedTuple):
    """The group and partition that an offset belongs to."""

    group_id: str
    topic: str
    partition: int


class OffsetTable:
    """Offsets by group id, topic and partition. A group or topic without offsets has no entry."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, dict[int, OffsetAndMetadata]]] = {}

    def of_group(self, group_id: str) -> dict[str, dict[int, OffsetAndMetadata]]:
        """Returns topic -> partition -> offset."""
        return self._groups.get(group_id, {})

    def get(self, key: OffsetKey) -> OffsetAndMetadata | None:
        return self.of_group(key.group_id).get(key.topic, {}).get(key.partition)

    def put(self, key: OffsetKey, offset: OffsetAndMetadata) -> None:
        self._groups.setdefault(key.group_id, {}).setdefault(key.topic, {})[key.partition] = offset

    def remove(self, key: OffsetKey) -> None:
        topics = self._groups.get(key.group_id, {})
        partitions = topics.get(key.topic, {})
        if partitions.pop(key.partition, None) is None:
            return
        if not partitions:
            del topics[key.topic]
        if not topics:
            del self._groups[key.group_id]

    def __iter__(self) -> Iterator[tuple[OffsetKey, OffsetAndMetadata]]:
        for group_id in self._groups:
            yield from self.items(group_id)

    def items(self, group_id: str) -> Iterator[tuple[OffsetKey, OffsetAndMetadata]]:
        """Iterates over the offsets of one group."""
        for topic, partitions in self.of_group(group_id).items():
            for partition, offset in partitions.items():
                yield OffsetKey(group_id, topic, partition), offset

    def __repr__(self) -> str:
        return f"offsets of {len(self._groups)} groups"


class OffsetMetadataManager:
    """The offsets of a shard: `stable` ones, and pending ones by producer id."""

    def __init__(self) -> None:
        self.stable = OffsetTable()
        self._pending: dict[int, OffsetTable] = {}
        self._producers: dict[str, dict[OffsetKey, set[int]]] = {}
        """Group id -> key -> the producers whose open transactions have an offset for it."""

    def put(self, producer_id: int, key: OffsetKey, offset: OffsetAndMetadata) -> None:
        """Stores a committed offset. `producer_id` is -1 outside a transaction."""
        if producer_id < 0:
            self.stable.put(key, offset)
            return
        self._pending.setdefault(producer_id, OffsetTable()).put(key, offset)
        self._producers.setdefault(key.group_id, {}).setdefault(key, set()).add(producer_id)

    def remove(self, key: OffsetKey) -> None:
        self.stable.remove(key)
        for producer_id in [*self._producers.get(key.group_id, {}).get(key, ())]:
            self._pending[producer_id].remove(key)
            self._forget_producer(key, producer_id)

    def _forget_producer(self, key: OffsetKey, producer_id: int) -> None:
        of_group = self._producers[key.group_id]
        of_group[key].remove(producer_id)
        if not of_group[key]:
            del of_group[key]
        if not of_group:
            del self._producers[key.group_id]

    def end_transaction(self, producer_id: int, committed: bool) -> None:
        """Makes the pending offsets of a producer stable, or drops them."""
        pending = self._pending.pop(producer_id, None)
        for key, offset in pending or ():
            self._forget_producer(key, producer_id)
            present = self.stable.get(key)
            if committed and (present is None or present.record_offset < offset.record_offset):
                self.stable.put(key, offset)

    def is_pending(self, key: OffsetKey) -> bool:
        """Returns whether an open transaction has an offset for the key."""
        return key in self._producers.get(key.group_id, ())

    def pending_keys_of_group(self, group_id: str) -> set[OffsetKey]:
        """Returns the keys for which open transactions have offsets."""
        return set(self._producers.get(group_id, ()))

    def keys_of_group(self, group_id: str) -> dict[OffsetKey, None]:
        """Returns the keys of all offsets of the group, stable or pending, in order and once."""
        stable = {key: None for key, _ in self.stable.items(group_id)}
        return {**stable, **dict.fromkeys(sorted(self.pending_keys_of_group(group_id)))}

    def of_topics(self, topics: Collection[str]) -> dict[str, dict[OffsetKey, list[OffsetAndMetadata]]]:
        """Returns topic -> all its offsets, of every group, stable or pending."""
        found: dict[str, dict[OffsetKey, list[OffsetAndMetadata]]] = {topic: {} for topic in topics}
        for table in (self.stable, *self._pending.values()):
            for key, offset in table:
                if key.topic in found:
                    found[key.topic].setdefault(key, []).append(offset)
        return found
