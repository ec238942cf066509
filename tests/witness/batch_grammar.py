"""The record batch of magic 2, written a second time: a declarative grammar in construct, and
CRC-32C bit by bit.

It shares no code with `wire`, so that the tests can compare two independent readings of the format.
It is slow, and supports only uncompressed batches.
"""

from typing import Any

from construct import (
    Bytes,
    Computed,
    Construct,
    FocusedSeq,
    GreedyBytes,
    IfThenElse,
    Int8sb,
    Int16sb,
    Int32sb,
    Int32ub,
    Int64sb,
    Prefixed,
    PrefixedArray,
    Rebuild,
    Struct,
    ZigZag,
    this,
)


def _length(context: Any) -> int:
    return -1 if context.data is None else len(context.data)


NULLABLE: Construct = FocusedSeq(
    "data",
    "length" / Rebuild(ZigZag, _length),
    "data" / IfThenElse(this.length < 0, Computed(None), Bytes(this.length)),
)

HEADER = Struct("name" / Prefixed(ZigZag, GreedyBytes), "value" / NULLABLE)

RECORD = Prefixed(
    ZigZag,
    Struct(
        "attributes" / Int8sb,
        "timestamp_delta" / ZigZag,
        "offset_delta" / ZigZag,
        "key" / NULLABLE,
        "value" / NULLABLE,
        "headers" / PrefixedArray(ZigZag, HEADER),
    ),
)

BATCH = Struct(
    "base_offset" / Int64sb,
    "rest"
    / Prefixed(
        Int32sb,
        Struct(
            "partition_leader_epoch" / Int32sb,
            "magic" / Int8sb,
            "crc" / Int32ub,
            "covered" / GreedyBytes,
        ),
    ),
)

COVERED = Struct(
    "attributes" / Int16sb,
    "last_offset_delta" / Int32sb,
    "base_timestamp" / Int64sb,
    "max_timestamp" / Int64sb,
    "producer_id" / Int64sb,
    "producer_epoch" / Int16sb,
    "base_sequence" / Int32sb,
    "records" / PrefixedArray(Int32sb, RECORD),
)


def crc32c_bit_by_bit(data: bytes) -> int:
    """The checksum from its definition: the reflected polynomial 0x82F63B78, all bits set before
    and flipped after."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF
