"""A map that never changes: a change creates a new map, which shares most of its parts with the
old one.

The entries are in dicts, chosen by the hash of the key. A change copies one of these dicts and the
tuple of all of them; with about twice as many dicts as each has entries, that costs some
microseconds for a hundred thousand entries. Up to `ONE_DICT` entries are in one dict.

The order of the entries follows from the hashes and from the order of the changes, so equal changes
give equal orders in every run if the hashes do not depend on the run.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

ONE_DICT = 32


class PersistentMap(Mapping[K, V]):
    """Maps hashable keys to values. Equal to every mapping with equal entries, and hashable if its
    values are.
    """

    __slots__ = ("_buckets", "_length", "_mask")

    _buckets: tuple[dict[K, V], ...]

    def __init__(self, entries: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        self._fill(dict(entries))

    def set(self, key: K, value: V) -> PersistentMap[K, V]:
        """The map with this value for the key."""
        at = hash(key) & self._mask
        changed = self._buckets[at].copy()
        changed[key] = value
        return self._with(at, changed)

    def delete(self, key: K) -> PersistentMap[K, V]:
        """The map without the key. KeyError if it is missing."""
        at = hash(key) & self._mask
        changed = self._buckets[at].copy()
        del changed[key]
        return self._with(at, changed)

    def update(self, entries: Mapping[K, V]) -> PersistentMap[K, V]:
        """The map with these entries, too."""
        return PersistentMap({**self, **entries})

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: V | D) -> V | D: ...
    def get(self, key: K, default: V | D | None = None) -> V | D | None:
        return self._buckets[hash(key) & self._mask].get(key, default)

    def __getitem__(self, key: K) -> V:
        return self._buckets[hash(key) & self._mask][key]

    def __contains__(self, key: object) -> bool:
        return key in self._buckets[hash(key) & self._mask]

    def __iter__(self) -> Iterator[K]:
        return chain.from_iterable(self._buckets)

    def items(self) -> ItemsView[K, V]:
        """The entries, which are not looked up one by one."""
        return _Items(self)

    def __len__(self) -> int:
        return self._length

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"a map of {self._length} entries"

    def _fill(self, entries: dict[K, V]) -> None:
        count = _bucket_count(len(entries))
        buckets: list[dict[K, V]] = [entries] if count == 1 else [{} for _ in range(count)]
        if count > 1:
            for key, value in entries.items():
                buckets[hash(key) & count - 1][key] = value
        self._buckets, self._length, self._mask = tuple(buckets), len(entries), count - 1

    def _with(self, at: int, changed: dict[K, V]) -> PersistentMap[K, V]:
        new: PersistentMap[K, V] = PersistentMap.__new__(PersistentMap)
        new._buckets = (*self._buckets[:at], changed, *self._buckets[at + 1 :])
        new._length = self._length + len(changed) - len(self._buckets[at])
        new._mask = self._mask
        if not new._is_balanced():
            new._fill(dict(new))
        return new

    def _is_balanced(self) -> bool:
        """Whether a change is cheap. The distance to the number of dicts that `_fill` chooses is so
        large that a rebuild comes only after as many changes as there are entries.
        """
        count = self._mask + 1
        return self._length <= ONE_DICT * 4 if count == 1 else count * count <= 64 * self._length <= 64 * count * count


class _Items(ItemsView[K, V]):
    """The entries of a map."""

    _mapping: PersistentMap[K, V]

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return chain.from_iterable(bucket.items() for bucket in self._mapping._buckets)


def _bucket_count(length: int) -> int:
    """A power of 2, at least twice the square root of `length`."""
    count = 1
    while length > ONE_DICT and count * count < 4 * length:
        count *= 2
    return count
