"""The order of Kafka's TimelineHashMap, such as the map of a group's members.

A key belongs to the slot that the high bits of its hash code name, multiplied by a constant.
Iteration goes from the first slot to the last, and through the keys of one slot from the last that
was put to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ..java.hash_tables import hash_map_order, table_size_for

K = TypeVar("K")
V = TypeVar("V")

_GOLDEN_RATIO = -7046029254386353131 & 0xFFFFFFFFFFFFFFFF


def timeline_hash_map_order(
    keys: Iterable[K],
    hash_code_of: Callable[[K], int],
    *,
    expected_size: int = 0,
    most_keys: int = 0,
) -> list[K]:
    """Returns the order of a TimelineHashMap, for keys in the order in which they were put.

    `hash_code_of` is a signed `hashCode()`, such as `java_hash`. `most_keys` is the largest number
    of keys that the map ever had, if that is more than now, because the table never shrinks; to put
    a key that is present counts as one key more. A key that was removed and put again comes last.
    """
    ordered = list(keys)[::-1]
    bins = timeline_table_size(max(len(ordered), most_keys), expected_size)
    shift = 65 - bins.bit_length()
    slots = {key: (hash_code_of(key) * _GOLDEN_RATIO & 0xFFFFFFFFFFFFFFFF) >> shift for key in ordered}
    return sorted(ordered, key=slots.__getitem__)


def timeline_table_size(most_keys: int, expected_size: int = 0) -> int:
    """Returns how many slots a TimelineHashMap has that was created for `expected_size` keys."""
    bins = max(2, table_size_for(-(-expected_size * 4 // 3)))
    # It doubles before it has a key more than four thirds of its slots.
    while most_keys * 3 > bins * 4:
        bins *= 2
    return bins


class TimelineHashMap(dict[K, V]):
    """A dict that knows the order that it would have in Kafka. Its entries are set only as
    `map[key] = value`; iteration has the order of any dict."""

    __slots__ = ("_expected_size", "_hash_code_of", "_most_keys")

    def __init__(self, hash_code_of: Callable[[K], int], expected_size: int = 0) -> None:
        super().__init__()
        self._hash_code_of = hash_code_of
        self._expected_size = expected_size
        self._most_keys = 0

    def __setitem__(self, key: K, value: V) -> None:
        # Kafka makes room for one key more even if the key is present.
        self._most_keys = max(self._most_keys, len(self) + 1)
        super().__setitem__(key, value)

    def in_order(self) -> list[K]:
        """Returns the keys in the order in which Kafka iterates over them."""
        return timeline_hash_map_order(
            self, self._hash_code_of, expected_size=self._expected_size, most_keys=self._most_keys
        )


def overlaid_order(base: TimelineHashMap[K, V], changed: Mapping[K, V], hash_of: Callable[[K], int]) -> list[K]:
    """Returns the order of Kafka's OverlayMap, for a map with changes that are not written yet: the
    keys of `base` that are still there, then the new ones, at most 12 at any time, as a HashMap has
    them. Put into a HashMap in this order (`hash_map_order`), they are the members as an assignor
    sees them."""
    added = [key for key in changed if key not in base]
    return [key for key in base.in_order() if key in changed] + hash_map_order(added, hash_of)
