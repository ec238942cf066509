"""Reads through the records of a batch without making `Record`s, and collects what a broker needs
before it appends (KIP-98).

The loop is that of `record_body` without the objects. Anything unusual goes to the careful reader,
whose records are then summed up.
"""

from typing import NamedTuple

from .checksum import Buffer
from .record_body import Odd, long32, long64, short32
from .record_careful import BatchContext, decode_carefully, wrap64

_TAME, _WILD = 1 << 62, -(1 << 62)
_MOST, _LEAST = 1 << 63, -(1 << 63)
_new = tuple.__new__  # in a third of the time that calling the named tuple takes


class Scan(NamedTuple):
    """The facts about the records of a batch that a broker needs and the header does not contain.

    `consecutive`: the offset deltas are 0, 1, 2, ...; `first_keyless`: the index of the first
    record without a key, or -1; the timestamps are those that the records carry, whatever the
    header's timestamp type; `offset_of_max_timestamp`: of the first record that has it, counted
    from the header's base offset; these three are -1 when there is no record; `body`: the records'
    bytes, decompressed.
    """

    consecutive: bool
    first_keyless: int
    min_timestamp: int
    max_timestamp: int
    offset_of_max_timestamp: int
    body: bytes


def scan_carefully(body: bytes, count: int, context: BatchContext) -> Scan:
    """Sums up the `count` records in `body` with the careful reader, slowly. `count` is not 0.
    Raises InvalidRecord."""
    records = decode_carefully(body, count, context._replace(append_time=None))
    highest = max(records, key=lambda record: record.timestamp)
    return Scan(
        all(record.offset == wrap64(context.base_offset + index) for index, record in enumerate(records)),
        next((index for index, record in enumerate(records) if record.key is None), -1),
        min(record.timestamp for record in records),
        highest.timestamp,
        highest.offset,
        body,
    )


def scan_fast(d: bytes, count: int, base_offset: int, base_timestamp: int) -> Scan:
    """The fast way; raises Odd or IndexError for anything unusual. It is one long loop for the same
    reason as in `record_body`."""
    if count <= 0 or not (_WILD < base_timestamp < _TAME and _WILD < base_offset < _TAME):
        raise Odd
    p, keyless, consecutive, highest, lowest, where = 0, -1, True, _LEAST, _MOST, 0
    for index in range(count):
        n = d[p]
        p += 1
        if n > 127:
            n += (d[p] << 7) - 128
            p += 1
            if n > 16383:
                n, p = long32(d, p, n)
        if n & 1:
            raise Odd
        end = p + (n >> 1)
        t = d[p + 1]
        p += 2
        if t > 127:
            t += (d[p] << 7) - 128
            p += 1
            if t > 16383:
                t, p = long64(d, p, t)
        o = d[p]
        p += 1
        if o > 127:
            o += (d[p] << 7) - 128
            p += 1
            if o > 16383:
                o, p = long32(d, p, o)
        if o != index + index:
            consecutive = False
        t = t >> 1 ^ -(t & 1)
        if t > highest:
            highest, where = t, o
        if t < lowest:
            lowest = t
        n = d[p]
        p += 1
        if n > 127:
            n += (d[p] << 7) - 128
            p += 1
            if n > 16383:
                n, p = long32(d, p, n)
        if not n & 1:
            p += n >> 1
        elif keyless < 0:
            keyless = index
        n = d[p]
        p += 1
        if n > 127:
            n += (d[p] << 7) - 128
            p += 1
            if n > 16383:
                n, p = long32(d, p, n)
        if not n & 1:
            p += n >> 1
        if d[p]:
            p = _skip_headers(d, p, end)
        else:
            p += 1
        if p != end:
            raise Odd
    if p != len(d):
        raise Odd
    where = base_offset + (where >> 1 ^ -(where & 1))
    return _new(Scan, (consecutive, keyless, base_timestamp + lowest, base_timestamp + highest, where, d))


def is_one_plain(d: Buffer, p: int, end: int) -> bool:
    """Whether one record of the plainest kind fills `d` from `p` to `end`: no headers, both deltas
    0, no length of more than two bytes.

    This takes a third of the time of a scan, and serves producers that wait for the response to
    each single record. When it returns False, the scan reports why.
    """
    try:
        n = d[p]
        p += 1
        if n > 127:
            n += (d[p] << 7) - 128
            p += 1
        if n > 16383 or p + (n >> 1) != end or n & 1 or d[p + 1] or d[p + 2] or d[end - 1]:
            return False
        n = d[p + 3]
        p += 4
        if n > 127:
            n += (d[p] << 7) - 128
            p += 1
        if n > 16383:
            return False
        if not n & 1:
            p += n >> 1
        n = d[p]
        p += 1
        if n > 127:
            n += (d[p] << 7) - 128
            p += 1
    except IndexError:
        return False
    return n <= 16383 and (p if n & 1 else p + (n >> 1)) == end - 1


def _skip_headers(d: bytes, p: int, end: int) -> int:
    count, p = short32(d, p)
    if count & 1:
        raise Odd
    for _ in range(count >> 1):
        n, p = short32(d, p)
        p += n >> 1
        if n & 1 or p > end:
            raise Odd
        n, p = short32(d, p)
        if not n & 1:
            p += n >> 1
    return p
