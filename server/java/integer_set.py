"""A `java.util.HashSet` of Integers, which needs no table most of the time.

The hash of a small Integer is the number itself. So as long as all numbers are smaller than the
table, each has a bin of its own, and the order is ascending. Only then is it faster than
hash_tables.py; else it is the same.
"""

from __future__ import annotations

from collections.abc import Collection

from .hash_tables import DEFAULT_CAPACITY, JavaHashSet, copy_capacity, integer_hash

INTEGERS_THAT_ARE_HASHES = 1 << 16
"""The spread hash of a smaller Integer is the number itself."""


class JavaIntegerSet(JavaHashSet[int]):
    """A `HashSet` of non-negative Integers. Its table is empty as long as each number has a bin of
    its own."""

    __slots__ = ()

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        super().__init__(integer_hash, capacity)

    @classmethod
    def copy(cls, numbers: Collection[int]) -> JavaIntegerSet:
        """Returns `new HashSet(numbers)`."""
        copy = cls(copy_capacity(len(numbers)))
        if numbers and max(numbers) < min(copy._bins, INTEGERS_THAT_ARE_HASHES):
            copy._values = dict.fromkeys(numbers)
        else:
            for number in numbers:
                copy.add(number)
        return copy

    def keys(self) -> list[int]:
        """Returns the numbers in the order in which Java iterates over them."""
        return super().keys() if self._table else sorted(self._values)

    def add(self, element: int) -> None:
        """Adds a number."""
        values = self._values
        if element in values:
            return
        if self._table or element >= self._bins or element >= INTEGERS_THAT_ARE_HASHES:
            if not self._table:
                table = self._create_table()
                for number in self._values:
                    table[number] = [number]
            self.put(element, None)
            return
        values[element] = None
        if len(values) > self._threshold:
            self._resize()

    def remove(self, key: int, *, by_iterator: bool = False) -> bool:
        """Removes a number; returns whether it was there."""
        if self._table:
            return super().remove(key, by_iterator=by_iterator)
        return self._values.pop(key, self) is None

    def _resize(self) -> None:
        if self._table:
            super()._resize()
        else:
            self._bins *= 2
            self._threshold = self._bins * 3 // 4


def integer_set_copy_order(numbers: Collection[int]) -> list[int]:
    """Returns the order of `new HashSet(numbers)`, for non-negative Integers."""
    return JavaIntegerSet.copy(numbers).keys()
