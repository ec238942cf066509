"""Merges topics and partitions that a request names repeatedly, as Kafka's maps do: each topic
once, each partition once with its last value, and no topic without partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
P = TypeVar("P")


def named_once(
    topics: Iterable[T],
    name: Callable[[T], Hashable],
    partitions: Callable[[T], Sequence[P]],
    index: Callable[[P], int],
) -> list[tuple[T, list[P]]]:
    """Each topic with its partitions, in the order of their first occurrence."""
    kept: dict[Hashable, tuple[T, dict[int, P]]] = {}
    for topic in topics:
        for partition in partitions(topic):
            kept.setdefault(name(topic), (topic, {}))[1][index(partition)] = partition
    return [(topic, [*of.values()]) for topic, of in kept.values()]
