"""The iteration order of the hash tables of Java and Kafka, where Kafka's decisions depend on it.

A partition assignor of Apache Kafka walks over `java.util.HashMap` and `HashSet`, and which
partition a member keeps can depend on the order of that walk. Rules of a `HashMap`:

- The table has a power of two of bins. A key belongs to the bin that the low bits of its spread
  hash name; iteration goes from the first bin to the last, and in a bin from its head to its tail.
- `put` appends to a bin; `computeIfAbsent` puts the new key at the head. Removal keeps the order.
- The table doubles when it holds more keys than three quarters of its bins; it never shrinks. Keys
  that share a bin keep their order. `put` doubles after it inserted, `computeIfAbsent` before.
- A bin that gets too long doubles a table of less than 64 bins, and becomes a tree in a larger one
  (tree_bin.py), which has an order of its own.

`hash_of` of a table is one of the functions below: the hash of a key as `HashMap` spreads it, an
unsigned 32-bit number. Keys are strings, Uuids, non-negative integers, and pairs for Kafka's
records TopicIdPartition and TaskId.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from struct import Struct
from typing import Generic, TypeVar

from kafkadouble.messages.uuid import Uuid

from .strings import MAX_CACHED_LENGTH, java_hash
from .tree_bin import UNTREEIFY_THRESHOLD, JavaTreeBin

K = TypeVar("K")
V = TypeVar("V")

JAVA_RELEASE = 17
"""The Java whose collections are imitated. Since 19, a copy of 12, 24, 48... elements has half as
many bins."""

DEFAULT_CAPACITY = 16
MIN_TREEIFY_CAPACITY = 64
TREEIFY_THRESHOLD = 8

_UNSIGNED = 0xFFFFFFFF
_unsigned_words = Struct(">4I").unpack


def spread(java_hash_code: int) -> int:
    """Returns a `hashCode()`, signed or not, as `HashMap` spreads it."""
    code = java_hash_code & _UNSIGNED
    return code ^ code >> 16


@lru_cache(maxsize=1 << 14)
def uuid_hash_code(uuid: Uuid) -> int:
    """Returns `Uuid.hashCode()`, unsigned."""
    a, b, c, d = _unsigned_words(uuid)
    return int(a ^ b ^ c ^ d)


@lru_cache(maxsize=1 << 14)
def uuid_hash(uuid: Uuid) -> int:
    """Returns the spread hash of a Uuid."""
    return spread(uuid_hash_code(uuid))


def string_hash(text: str) -> int:
    """Returns the spread hash of a string."""
    return cached_string_hash(text) if len(text) <= MAX_CACHED_LENGTH else spread(java_hash(text))


@lru_cache(maxsize=1 << 14)
def cached_string_hash(text: str) -> int:
    return spread(java_hash(text))


def integer_hash(number: int) -> int:
    """Returns the spread hash of a non-negative Integer."""
    return number ^ number >> 16


def topic_id_partition_hash(topic_id_partition: tuple[Uuid, int]) -> int:
    """Returns the spread hash of a TopicIdPartition: topic id and partition."""
    topic_id, partition = topic_id_partition
    return spread(31 * uuid_hash_code(topic_id) + partition)


def table_size_for(capacity: int) -> int:
    """Returns how many bins a table has that was created for `capacity`."""
    return 1 << (capacity - 1).bit_length() if capacity > 1 else 1


def copy_capacity(size: int) -> int:
    """Returns the capacity of `new HashSet(collection)`, for a collection of this size."""
    needed = size * 4 // 3 + 1 if JAVA_RELEASE < 19 else -(-size * 4 // 3)
    return max(needed, DEFAULT_CAPACITY)


class JavaHashMap(Generic[K, V]):
    """A `java.util.HashMap`. `capacity` is that of the constructor.

    A loop over it sees the keys that it had when the loop began.
    """

    __slots__ = ("_bins", "_hash_of", "_table", "_threshold", "_values")

    def __init__(self, hash_of: Callable[[K], int], capacity: int = DEFAULT_CAPACITY) -> None:
        self._hash_of = hash_of
        self._values: dict[K, V] = {}
        self._bins = table_size_for(capacity)
        # Made when the first key comes.
        self._table: list[list[K] | JavaTreeBin[K] | None] = []
        self._threshold = self._bins * 3 // 4

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def get(self, key: K) -> V | None:
        """Returns the value, or None."""
        return self._values.get(key)

    def keys(self) -> list[K]:
        """Returns the keys in the order in which Java iterates over them."""
        return [key for found in self._table if found is not None for key in found]

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())

    def items(self) -> Iterator[tuple[K, V]]:
        """Returns the entries in the order in which Java iterates over them."""
        values = self._values
        return ((key, values[key]) for key in self.keys())

    def _create_table(self) -> list[list[K] | JavaTreeBin[K] | None]:
        self._table = [None] * self._bins
        return self._table

    def put(self, key: K, value: V) -> None:
        """Sets a value, as `put` and `putIfAbsent` of a key that is absent do."""
        values = self._values
        if key in values:
            values[key] = value
            return
        values[key] = value
        table = self._table or self._create_table()
        index = self._hash_of(key) & self._bins - 1
        found = table[index]
        if found is None:
            table[index] = [key]
        elif isinstance(found, list):
            found.append(key)
            if len(found) > TREEIFY_THRESHOLD:
                self._treeify_bin(index)
        else:
            found.insert(key)
        if len(values) > self._threshold:
            self._resize()

    def compute_if_absent(self, key: K, create: Callable[[], V]) -> V:
        """Returns the value of a key; if it has none, `create` makes it."""
        # This resize comes first even if the key is present.
        if len(self._values) > self._threshold:
            self._resize()
        if key not in self._values:
            self._values[key] = create()
            table = self._table or self._create_table()
            index = self._hash_of(key) & self._bins - 1
            found = table[index]
            if found is None:
                table[index] = [key]
            elif isinstance(found, list):
                found.insert(0, key)
                # One key earlier than `put`.
                if len(found) >= TREEIFY_THRESHOLD:
                    self._treeify_bin(index)
            else:
                found.insert(key)
        return self._values[key]

    def remove(self, key: K, *, by_iterator: bool = False) -> bool:
        """Removes a key; returns whether it was there. `by_iterator` is true for
        `Iterator.remove`, which leaves a tree where it is."""
        if key not in self._values:
            return False
        del self._values[key]
        index = self._hash_of(key) & self._bins - 1
        found = self._table[index]
        if isinstance(found, JavaTreeBin):
            rest = found.remove(key, movable=not by_iterator)
        else:
            assert found is not None
            rest = found
            found.remove(key)
        self._table[index] = rest or None
        return True

    def _treeify_bin(self, index: int) -> None:
        if self._bins < MIN_TREEIFY_CAPACITY:
            self._resize()
            return
        keys = self._table[index]
        assert keys is not None
        self._table[index] = JavaTreeBin(keys, self._hash_of)

    def _resize(self) -> None:
        bins = self._bins
        low = self._table or self._create_table()
        high: list[list[K] | JavaTreeBin[K] | None] = [None] * bins
        for index, found in enumerate(low):
            if found is not None:
                low[index], high[index] = self._split(found, bins)
        self._table = low + high
        self._bins = 2 * bins
        self._threshold = self._bins * 3 // 4

    def _split(
        self, found: list[K] | JavaTreeBin[K], bit: int
    ) -> tuple[list[K] | JavaTreeBin[K] | None, list[K] | JavaTreeBin[K] | None]:
        hash_of = self._hash_of
        low = [key for key in found if not hash_of(key) & bit]
        if len(low) == len(found):
            return found if len(low) > UNTREEIFY_THRESHOLD else low, None
        high = [key for key in found if hash_of(key) & bit]
        if not low:
            return None, found if len(high) > UNTREEIFY_THRESHOLD else high
        if isinstance(found, list):
            return low, high
        return self._tree_or_list(low), self._tree_or_list(high)

    def _tree_or_list(self, keys: list[K]) -> list[K] | JavaTreeBin[K]:
        return keys if len(keys) <= UNTREEIFY_THRESHOLD else JavaTreeBin(keys, self._hash_of)


class JavaHashSet(JavaHashMap[K, None]):
    """A `java.util.HashSet`."""

    __slots__ = ()

    @classmethod
    def copy_of(cls, elements: Collection[K], hash_of: Callable[[K], int]) -> JavaHashSet[K]:
        """Returns `new HashSet(elements)`."""
        copy = cls(hash_of, copy_capacity(len(elements)))
        for element in elements:
            copy.add(element)
        return copy

    def add(self, element: K) -> None:
        """Adds an element."""
        if element not in self._values:
            self.put(element, None)


def hash_map_order(keys: Iterable[K], hash_of: Callable[[K], int], capacity: int = DEFAULT_CAPACITY) -> list[K]:
    """Returns the order of a HashMap into which the keys were put in the given order."""
    table: JavaHashSet[K] = JavaHashSet(hash_of, capacity)
    for key in keys:
        table.add(key)
    return table.keys()


def hash_set_copy_order(elements: Collection[K], hash_of: Callable[[K], int]) -> list[K]:
    """Returns the order of `new HashSet(elements)`."""
    return JavaHashSet.copy_of(elements, hash_of).keys()
