"""Java's `String.hashCode()` and `String.length()`, where Kafka exposes their results, and the order
of a `HashMap` with such keys.

A Java string is a sequence of UTF-16 code units. A character outside the Basic Multilingual Plane
is two code units, and both functions count it as two.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from struct import iter_unpack

SMALLEST_TABLE, LOAD_FACTOR = 16, 0.75
"""Of a `HashMap`: its first number of buckets, and how many keys a bucket has on average before the
number doubles."""


@lru_cache(maxsize=4096)
def java_hash(text: str) -> int:
    """Return `text.hashCode()`, a signed 32-bit number."""
    value = 0
    for (unit,) in iter_unpack(">H", text.encode("utf-16-be", "surrogatepass")):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def java_length(text: str) -> int:
    """Return `text.length()`."""
    return len(text.encode("utf-16-be", "surrogatepass")) // 2


def partition_for(key: str, partitions: int) -> int:
    """Return the partition of a coordinator's topic that holds `key`.

    It is Kafka's `Utils.abs(key.hashCode()) % partitions`. The smallest 32-bit number has no
    positive counterpart; `Utils.abs` returns 0 for it.
    """
    value = java_hash(key)
    return 0 if value == -(1 << 31) else abs(value) % partitions


def in_hash_map_order(keys: Iterable[str]) -> list[str]:
    """Return distinct keys, in the order of their insertion, in the order in which Java's `HashMap`
    iterates over them."""
    inserted = [*keys]
    buckets = SMALLEST_TABLE
    while len(inserted) > LOAD_FACTOR * buckets:
        buckets *= 2
    return sorted(inserted, key=lambda key: _spread(java_hash(key)) & (buckets - 1))


def _spread(hash_code: int) -> int:
    return hash_code ^ ((hash_code & 0xFFFFFFFF) >> 16)
