"""The committed offsets of one shard's groups, and those that transactions still hold back: a fold over OffsetCommit records.

Rules. The latest record holds. Offsets of an open transaction are pending by its producer id: its commit moves them in, unless a later record
has been there first; its abort drops them. A tombstone removes the pending ones too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .committed import Committed


class Place(NamedTuple):
    """What an offset is of."""

    group: str
    topic: str
    partition: int


class OffsetTable:
    """Offsets by group, topic and partition; what has become empty is not there."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, dict[int, Committed]]] = {}

    def of_group(self, group: str) -> dict[str, dict[int, Committed]]:
        """Topic -> partition -> offset."""
        return self._groups.get(group, {})

    def get(self, place: Place) -> Committed | None:
        return self.of_group(place.group).get(place.topic, {}).get(place.partition)

    def put(self, place: Place, offset: Committed) -> None:
        self._groups.setdefault(place.group, {}).setdefault(place.topic, {})[place.partition] = offset

    def remove(self, place: Place) -> None:
        topics = self._groups.get(place.group, {})
        partitions = topics.get(place.topic, {})
        if partitions.pop(place.partition, None) is None:
            return
        if not partitions:
            del topics[place.topic]
        if not topics:
            del self._groups[place.group]

    def __iter__(self) -> Iterator[tuple[Place, Committed]]:
        for group in self._groups:
            yield from self.items(group)

    def items(self, group: str) -> Iterator[tuple[Place, Committed]]:
        """The offsets of one group."""
        for topic, partitions in self.of_group(group).items():
            for partition, offset in partitions.items():
                yield Place(group, topic, partition), offset

    def __repr__(self) -> str:
        return f"offsets of {len(self._groups)} groups"


class Offsets:
    """All offsets of a shard: `stable`, and pending ones by producer id."""

    def __init__(self) -> None:
        self.stable = OffsetTable()
        self._pending: dict[int, OffsetTable] = {}

    def put(self, producer_id: int, place: Place, offset: Committed) -> None:
        """An offset was committed; `producer_id` is -1 outside a transaction."""
        table = self.stable if producer_id < 0 else self._pending.setdefault(producer_id, OffsetTable())
        table.put(place, offset)

    def remove(self, place: Place) -> None:
        self.stable.remove(place)
        for table in self._pending.values():
            table.remove(place)

    def end_transaction(self, producer_id: int, committed: bool) -> None:
        """The transaction of this producer is over."""
        pending = self._pending.pop(producer_id, None)
        if pending is None or not committed:
            return
        for place, offset in pending:
            present = self.stable.get(place)
            if present is None or present.record_offset < offset.record_offset:
                self.stable.put(place, offset)

    def is_pending(self, place: Place) -> bool:
        """Whether an open transaction holds an offset for this."""
        return any(table.get(place) is not None for table in self._pending.values())

    def pending_of(self, group: str) -> set[Place]:
        """What open transactions hold offsets for."""
        return {place for table in self._pending.values() for place, _ in table.items(group)}

    def places(self, group: str) -> dict[Place, None]:
        """Everything that the group has an offset for, pending or not, in order and once."""
        stable = {place: None for place, _ in self.stable.items(group)}
        return {**stable, **dict.fromkeys(sorted(self.pending_of(group)))}

    def topic_places(self, topic: str) -> dict[Place, list[Committed]]:
        """Everything of a topic that some group has offsets for, pending or not."""
        found: dict[Place, list[Committed]] = {}
        for table in (self.stable, *self._pending.values()):
            for place, offset in table:
                if place.topic == topic:
                    found.setdefault(place, []).append(offset)
        return found
