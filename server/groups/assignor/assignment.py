"""An assignment of partitions, in the order in which Apache Kafka iterates over it.

Which partition a member keeps can depend on the order of its assignment, and Kafka writes records
in that order. So a PartitionSet is a frozenset that iterates in Kafka's order, and the topics of an
Assignment are in Kafka's order, too. `assignment_of` makes the assignment that Kafka has in memory
from its record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from kafkadouble.messages.uuid import Uuid

from ...java.hash_tables import hash_map_order, uuid_hash
from ...java.integer_set import integer_set_copy_order


class PartitionSet(frozenset[int]):
    """The numbers of some partitions of one topic; iterates in the order in which they were given.
    It is equal to any set of the same numbers."""

    __slots__ = ("_order",)
    _order: Sequence[int]

    def __new__(cls, partitions: Iterable[int] = ()) -> PartitionSet:
        order = partitions if isinstance(partitions, range) else tuple(partitions)
        made = super().__new__(cls, order)
        made._order = order
        return made

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __repr__(self) -> str:
        return f"PartitionSet({list(self._order)})"


Assignment: TypeAlias = Mapping[Uuid, PartitionSet]
"""The partitions of each topic of one member, by topic id."""

GroupAssignment: TypeAlias = dict[str, Assignment]
"""The assignment of each member, by member id. A member that is absent has no partitions."""

EMPTY_ASSIGNMENT: Assignment = {}


def assignment_of(topic_partitions: Iterable[tuple[Uuid, Sequence[int]]]) -> Assignment:
    """Returns the assignment of a record, of a consumer group or a share group: topic ids with
    partitions, in the record's order."""
    by_topic = dict(topic_partitions)
    topic_ids = by_topic if len(by_topic) < 2 else hash_map_order(by_topic, uuid_hash)
    return {topic_id: PartitionSet(integer_set_copy_order(by_topic[topic_id])) for topic_id in topic_ids}
