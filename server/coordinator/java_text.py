"""What Java makes of a string where Kafka lets it be seen: `String.hashCode()` and `String.length()`.

Java's strings are UTF-16 code units, so both count a character beyond the basic plane as two.
"""

from __future__ import annotations

from functools import lru_cache
from struct import iter_unpack


@lru_cache(maxsize=4096)
def java_hash(text: str) -> int:
    """`text.hashCode()`, a signed 32-bit number."""
    value = 0
    for (unit,) in iter_unpack(">H", text.encode("utf-16-be", "surrogatepass")):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def java_length(text: str) -> int:
    """`text.length()`."""
    return len(text.encode("utf-16-be", "surrogatepass")) // 2


def partition_for(key: str, partitions: int) -> int:
    """The partition of a coordinator's topic in which `key` lives: Kafka's `Utils.abs(key.hashCode()) % partitions`.

    The least number has no positive twin; Kafka's `Utils.abs` makes 0 of it.
    """
    value = java_hash(key)
    return 0 if value == -(1 << 31) else abs(value) % partitions
