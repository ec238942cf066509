"""Which partition of its topic coordinates a key."""

from __future__ import annotations

from ..java.strings import java_hash


def partition_for(key: str, partitions: int) -> int:
    """Return the partition of a coordinator's topic that holds `key`.

    It is Kafka's `Utils.abs(key.hashCode()) % partitions`. The smallest 32-bit number has no
    positive counterpart; `Utils.abs` returns 0 for it.
    """
    value = java_hash(key)
    return 0 if value == -(1 << 31) else abs(value) % partitions
