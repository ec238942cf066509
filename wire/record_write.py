"""Writes the records inside a batch of magic 2, before compression (KIP-98; headers KIP-82). The
mirror of `record_body`.

A batch has few different small varints, so each is encoded once and cached.
"""

from collections.abc import Iterable
from typing import NamedTuple

from .errors import UsageError
from .record import Headers, Record
from .record_careful import wrap64
from .varint import write_varlong

_KEPT = 16384  # numbers; with their bytes about 1.5 MB


class _Zigzag(dict[int, bytes]):
    """A cache: a number -> its zigzag varint. Numbers beyond 64 bits wrap around, as a difference
    of two timestamps does in Java."""

    def __missing__(self, number: int) -> bytes:
        made = write_varlong(wrap64(number))
        if len(self) < _KEPT:
            self[number] = made
        return made


zigzags = _Zigzag()


class Body(NamedTuple):
    """Encoded records, and what the batch's header must say about them."""

    data: bytes
    record_count: int
    last_offset: int
    base_timestamp: int
    max_timestamp: int


def encode_body(records: Iterable[Record], base_offset: int, base_timestamp: int | None = None) -> Body:
    """`records` with ascending absolute offsets as bytes. The base timestamp is the first record's
    unless given. The last offset of an empty batch is one below the base offset, and its timestamps
    are -1. Raises UsageError when something does not fit."""
    zigzag = zigzags
    parts: list[bytes] = []
    first = base_timestamp
    last, highest, lowest, count = -1, -(1 << 63), (1 << 63) - 1, 0
    try:
        for record in records:
            key, value, timestamp = record.key, record.value, record.timestamp
            delta = record.offset - base_offset
            if delta <= last:
                raise UsageError(
                    f"offset {record.offset} after {base_offset + last}: offsets ascend from {base_offset}"
                )
            last = delta
            count += 1
            if first is None:
                first = timestamp
            if timestamp > highest:
                highest = timestamp
            if timestamp < lowest:
                lowest = timestamp
            if key is None:
                start = b"\0" + zigzag[timestamp - first] + zigzag[delta] + b"\1"
                key = b""
            else:
                start = b"\0" + zigzag[timestamp - first] + zigzag[delta] + zigzag[len(key)]
            if value is None:
                middle = b"\1"
                value = b""
            else:
                middle = zigzag[len(value)]
            headers = _encode_headers(record.headers) if record.headers else b"\0"
            size = len(start) + len(key) + len(middle) + len(value) + len(headers)
            parts += (zigzag[size], start, key, middle, value, headers)
        data = b"".join(parts)
    except (TypeError, AttributeError, UnicodeEncodeError) as problem:
        raise UsageError(f"not a record: {problem}") from None
    _check_ranges(last, lowest, highest if count else -1, len(data))
    return Body(data, count, base_offset + last, -1 if first is None else first, highest if count else -1)


def _encode_headers(headers: Headers) -> bytes:
    zigzag = zigzags
    parts = [zigzag[len(headers)]]
    for name, value in headers:
        encoded = name.encode("utf-8", "surrogateescape")
        if value is None:
            parts += (zigzag[len(encoded)], encoded, b"\1")
        else:
            parts += (zigzag[len(encoded)], encoded, zigzag[len(value)], value)
    return b"".join(parts)


def _check_ranges(last: int, lowest: int, highest: int, size: int) -> None:
    if last > 0x7FFFFFFF:
        raise UsageError(f"offset delta {last}: a batch spans at most 2^31 offsets")
    if lowest < -(1 << 63) or highest >= 1 << 63:
        raise UsageError("a timestamp of more than 64 bits")
    if size > 0x7FFFFFFF:
        raise UsageError(f"{size} bytes of records: a batch holds less than 2^31")
