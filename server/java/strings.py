"""Java's `String.hashCode()`, `length()` and `compareTo()`, where Kafka exposes their results.

A Java string is a sequence of UTF-16 code units. A character outside the Basic Multilingual Plane
is two code units, and the functions see both.
"""

from __future__ import annotations

from functools import lru_cache
from struct import iter_unpack

MAX_CACHED_LENGTH = 256
"""The longest text whose hash is kept, so that the texts of a cache take a few megabytes: clients
choose most of them, of up to 32 kB."""


def java_hash(text: str) -> int:
    """Returns `text.hashCode()`, a signed 32-bit number."""
    return cached_hash(text) if len(text) <= MAX_CACHED_LENGTH else _hash(text)


def _hash(text: str) -> int:
    value = 0
    for (unit,) in iter_unpack(">H", text.encode("utf-16-be", "surrogatepass")):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


cached_hash = lru_cache(maxsize=4096)(_hash)


def java_length(text: str) -> int:
    """Returns `text.length()`."""
    return len(text.encode("utf-16-be", "surrogatepass")) // 2


def java_order(text: str) -> bytes:
    """Returns a key that sorts as `text.compareTo()` does: by code units."""
    return text.encode("utf-16-be", "surrogatepass")
