"""Variable-length integers: seven bits a byte, lowest first, the high bit set on all but the last
byte.

Unsigned ones (KIP-482) are at most 32 bits in 5 bytes; signed ones (record batches) are zigzag, at
most 32 bits in 5 or 64 bits in 10 bytes. Readers take `(bytes, position)` and return `(value,
position after it)`; they raise `BadVarint`, or IndexError when the bytes end, which is what
generated code expects. This file never copies the bytes it reads.
"""

from __future__ import annotations

from .errors import BadVarint

ONE_BYTE = tuple(bytes((value,)) for value in range(128))
"""The encodings of 0 to 127."""


def more_uvarint(b: bytes, n: int, p: int) -> tuple[int, int]:
    """Goes on with an unsigned varint whose first byte `n` (above 127) has been read; `p` is behind
    that byte."""
    byte = b[p]
    n = n & 127 | (byte & 127) << 7
    if byte < 128:
        return n, p + 1
    for shift in (14, 21, 28):
        p += 1
        byte = b[p]
        n |= (byte & 127) << shift
        if byte < 128 and n <= 0xFFFFFFFF:
            return n, p + 1
    raise BadVarint("an unsigned varint has more than 32 bits", offset=p - 4)


def read_uvarint(b: bytes, p: int) -> tuple[int, int]:
    """An unsigned varint."""
    n = b[p]
    return (n, p + 1) if n < 128 else more_uvarint(b, n, p + 1)


def read_varint(b: bytes, p: int) -> tuple[int, int]:
    """A zigzag varint of at most 32 bits."""
    n, p = read_uvarint(b, p)
    return (n >> 1) ^ -(n & 1), p


def read_varlong(b: bytes, p: int) -> tuple[int, int]:
    """A zigzag varint of at most 64 bits."""
    n, start = 0, p
    for shift in range(0, 70, 7):
        byte = b[p]
        p += 1
        n |= (byte & 127) << shift
        if byte < 128:
            if n > 0xFFFFFFFFFFFFFFFF:
                break
            return (n >> 1) ^ -(n & 1), p
    raise BadVarint("a varlong has more than 64 bits", offset=start)


def write_uvarint(n: int) -> bytes:
    """The unsigned varint of a number from 0 to 2**32 - 1."""
    if 0 <= n < 128:
        return ONE_BYTE[n]
    if not 0 <= n <= 0xFFFFFFFF:
        raise ValueError(f"{n} does not fit in an unsigned varint")
    return _groups(n)


def write_varint(n: int) -> bytes:
    """The zigzag varint of a signed 32-bit number."""
    if not -0x80000000 <= n <= 0x7FFFFFFF:
        raise ValueError(f"{n} does not fit in a varint")
    return _groups((n << 1) ^ (n >> 31))


def write_varlong(n: int) -> bytes:
    """The zigzag varint of a signed 64-bit number."""
    if not -0x8000000000000000 <= n <= 0x7FFFFFFFFFFFFFFF:
        raise ValueError(f"{n} does not fit in a varlong")
    return _groups((n << 1) ^ (n >> 63))


def _groups(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)
