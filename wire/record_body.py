"""Reads the records inside a batch of magic 2, after decompression (KIP-98; headers KIP-82).

    record   length varint, attributes int8, timestampDelta varlong, offsetDelta varint,
             key, value, header count varint, headers
    key, value, header value   length varint (negative: null), bytes
    header   name length varint, name, value

There are two readers of the same bytes. The fast one, here, has its varint decoding inlined and
stops at anything unusual. The careful one (`record_careful`) then starts again, and either reads
the bytes as Java does or reports the error and its position. Usual encoders write nothing unusual.
A property test compares the two readers.
"""

from .record import Headers, Record

_TAME = 1 << 62  # bases below this cannot leave 64 bits by any delta that the fast reader takes


class Odd(Exception):
    """The fast reader found something that only the careful reader handles."""


def decode_fast(d: bytes, count: int, base_offset: int, base_timestamp: int, append_time: int | None) -> list[Record]:
    """The `count` records that `d` holds, all of it; `append_time` (LogAppendTime) overrides their
    timestamps. Raises Odd or IndexError for bytes that only the careful reader handles.

    One loop, longer than a function should be, because a call for each varint would cost more than
    the rest."""
    if not (-_TAME < base_timestamp < _TAME and -_TAME < base_offset < _TAME):
        raise Odd
    records: list[Record] = []
    append, new = records.append, Record.__new__
    p = 0
    for _ in range(count):
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
        t = d[p + 1]  # after the attributes, which are unused
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
        n = d[p]
        p += 1
        if n > 127:
            n += (d[p] << 7) - 128
            p += 1
            if n > 16383:
                n, p = long32(d, p, n)
        if n & 1:
            key = None
        else:
            q = p + (n >> 1)
            key = d[p:q]
            p = q
        n = d[p]
        p += 1
        if n > 127:
            n += (d[p] << 7) - 128
            p += 1
            if n > 16383:
                n, p = long32(d, p, n)
        if n & 1:
            value = None
        else:
            q = p + (n >> 1)
            value = d[p:q]
            p = q
        n = d[p]
        p += 1
        headers: Headers = ()
        if n:
            headers, p = _read_headers(d, p, n, end)
        if p != end:
            raise Odd
        record = new(Record)
        record.offset = base_offset + (o >> 1 ^ -(o & 1))
        record.timestamp = base_timestamp + (t >> 1 ^ -(t & 1)) if append_time is None else append_time
        record.key = key
        record.value = value
        record.headers = headers
        append(record)
    if p != len(d) or count < 0:
        raise Odd
    return records


def _read_headers(d: bytes, p: int, count: int, end: int) -> tuple[Headers, int]:
    """`count` is still in its zigzag form, as the loop above read its first byte."""
    if count > 127:
        count += (d[p] << 7) - 128
        p += 1
        if count > 16383:
            count, p = long32(d, p, count)
    if count & 1:
        raise Odd
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count >> 1):
        n, p = short32(d, p)
        q = p + (n >> 1)
        if n & 1 or q > end:
            raise Odd
        name = d[p:q].decode("utf-8", "surrogateescape")
        n, p = short32(d, q)
        if n & 1:
            headers.append((name, None))
        else:
            q = p + (n >> 1)
            headers.append((name, d[p:q]))
            p = q
    return tuple(headers), p


def short32(d: bytes, p: int) -> tuple[int, int]:
    """An unsigned varint of 32 bits, and the position after it."""
    n = d[p]
    p += 1
    if n > 127:
        n += (d[p] << 7) - 128
        p += 1
        if n > 16383:
            return long32(d, p, n)
    return n, p


def long32(d: bytes, p: int, n: int) -> tuple[int, int]:
    """The rest of a varint of three to five bytes: `n` is its first two as the loops joined them,
    `p` is where the third stands."""
    n += (d[p] << 14) - 16384
    p += 1
    if n < 0x200000:
        return n, p
    n += (d[p] << 21) - 0x200000
    p += 1
    if n < 0x10000000:
        return n, p
    n += (d[p] << 28) - 0x10000000
    if n > 0xFFFFFFFF:
        raise Odd
    return n, p + 1


def long64(d: bytes, p: int, n: int) -> tuple[int, int]:
    """Reads a varint of up to nine bytes; a varint of ten bytes is left to the careful reader."""
    n &= 0x3FFF
    for shift in range(14, 63, 7):
        byte = d[p]
        p += 1
        n |= (byte & 127) << shift
        if byte < 128:
            return n, p
    raise Odd
