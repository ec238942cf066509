"""Batches of values only, as in snapshots: no keys, no headers, one timestamp, offsets without a
gap, not compressed.

    record   length varint, 0, 0, offsetDelta varint, 1 (no key), value, 0 (no headers)

Reader and writer give the same results as `batch_read` and `batch_write`, without a `Record` for
each value. Any other batch is left to those two. A property test compares the results.
"""

from .batch_header import HEADER_SIZE, BatchHeader
from .batch_write import wrap_body
from .record_body import Odd, long32
from .record_write import zigzags


def value_record(value: bytes, delta: int) -> bytes:
    """The record at index `delta` of its batch, from 0."""
    start = b"\0\0" + zigzags[delta] + b"\1" + zigzags[len(value)]
    return b"".join((zigzags[len(start) + len(value) + 1], start, value, b"\0"))


def wrap_values(body: bytes, count: int, *, base_offset: int, timestamp: int, partition_leader_epoch: int) -> bytearray:
    """The batch of `count` such records, all with the timestamp `timestamp`."""
    header = BatchHeader(
        base_offset, 0, partition_leader_epoch, 2, 0, 0, count - 1, timestamp, timestamp, -1, -1, -1, count
    )
    return wrap_body(header, body)


def plain_values(batch: bytes, header: BatchHeader) -> list[bytes] | None:
    """The values of a complete batch with a valid checksum. None when it is another kind of batch,
    or a value is empty or null."""
    if header.attributes or header.count != header.last_offset_delta + 1:
        return None
    try:
        return _values(batch, HEADER_SIZE, header.count)
    except (IndexError, Odd):
        return None


def _values(d: bytes, p: int, count: int) -> list[bytes]:
    """One loop with its varints inlined, as in `record_body`."""
    values: list[bytes] = []
    append = values.append
    for delta in range(0, 2 * count, 2):
        n = d[p]
        p += 1
        if n > 127:
            n += (d[p] << 7) - 128
            p += 1
            if n > 16383:
                n, p = long32(d, p, n)
        end = p + (n >> 1) - 1  # where the headers are counted
        o = d[p + 2]
        q = p + 3
        if o > 127:
            o += (d[q] << 7) - 128
            q += 1
            if o > 16383:
                o, q = long32(d, q, o)
        if d[p + 1] or o != delta or d[q] != 1:
            raise Odd
        v = d[q + 1]
        q += 2
        if v > 127:
            v += (d[q] << 7) - 128
            q += 1
            if v > 16383:
                v, q = long32(d, q, v)
        p = q + (v >> 1)
        if v < 2 or v & 1 or n & 1 or p != end or d[p]:
            raise Odd
        append(d[q:p])
        p += 1
    if p != len(d):
        raise Odd
    return values
