"""Chooses the partition of a record, as the producer of Apache Kafka does: murmur2 of the key, with
the sign bit cleared."""

from __future__ import annotations

_SEED, _M, _R = 0x9747B28C, 0x5BD1E995, 24
_MASK = 0xFFFFFFFF


def partition_for(key: bytes, partitions: int) -> int:
    """The partition of a key in a topic with this number of partitions."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """The murmur2 hash with Kafka's seed, an unsigned number of 32 bits."""
    h = _SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * _M & _MASK
        k = (k ^ k >> _R) * _M & _MASK
        h = h * _M & _MASK ^ k
    if tail := data[whole:]:
        h = (h ^ int.from_bytes(tail, "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    return h ^ h >> 15
