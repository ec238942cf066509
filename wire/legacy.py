"""Reads message sets of magic 0 and 1. Kafka 4 does not write them any more (KIP-724), but old logs
and tools contain them.

    offset int64, size int32, crc uint32, magic int8, attributes int8,
    [timestamp int64 when magic is 1], key, value
    key, value: length int32 (negative: null), bytes

A compressed message is a wrapper: its value holds messages. With magic 1 their offsets count from
the set's first message, and the wrapper's own offset is that of the last one (KIP-31); a wrapper
stamped by the broker overrides their timestamps (KIP-32).
"""

import zlib
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from . import compression
from .batch_header import APPEND_TIME, LEGACY_CRC_START, LOG_OVERHEAD, SMALLEST_LENGTHS, BatchHeader
from .checksum import Buffer
from .errors import BadLength, CorruptBatch, InvalidRecord
from .record import Record

_NONE, _LZ4, _ZSTD = 0, 3, 4
_START = Struct(">qiIbb")
_LONG = Struct(">q")
_INT = Struct(">i")


class _Message(NamedTuple):
    header: BatchHeader
    key: bytes | None
    value: bytes | None


def read_legacy_header(buffer: Buffer, position: int) -> BatchHeader:
    """The header of the message at `position`; length and magic have been checked before. The
    offsets in a wrapper are unknown until it is decompressed: first and last offset are the
    wrapper's own, and the count is -1."""
    offset, length, crc, magic, attributes = _START.unpack_from(buffer, position)
    timestamp = _LONG.unpack_from(buffer, position + 18)[0] if magic else -1
    count = 1 if attributes & 7 == _NONE else -1
    return BatchHeader(
        offset, length + LOG_OVERHEAD, -1, magic, crc, attributes, 0, timestamp, timestamp, -1, -1, -1, count
    )


def decode_legacy(buffer: Buffer, position: int, header: BatchHeader, limit: int, check_crc: bool) -> list[Record]:
    """The records of the message at `position`: the message itself, or the messages that it wraps.
    Raises BadCompression, TooLarge, CorruptBatch, InvalidRecord. `check_crc` is for the inner
    messages; the caller checks the outer message."""
    outer = _read_message(bytes(memoryview(buffer)[position : position + header.size]), 0, header, position)
    if header.compression == _NONE:
        return [Record(header.base_offset, header.max_timestamp, outer.key, outer.value)]
    inner = list(_unwrap(outer, position, limit, check_crc))
    if not inner:
        raise InvalidRecord("a compressed message with nothing inside", offset=position)
    base = _base_of_inner(header, inner[-1].header.base_offset, position)
    append_time = header.max_timestamp if header.magic and header.timestamp_type == APPEND_TIME else None
    return [_inner_record(message, base, append_time) for message in inner]


def _inner_record(message: _Message, base: int, append_time: int | None) -> Record:
    header = message.header
    timestamp = append_time if header.magic and append_time is not None else header.max_timestamp
    return Record(base + header.base_offset, timestamp, message.key, message.value)


def _base_of_inner(header: BatchHeader, last_inner: int, position: int) -> int:
    """The offset that the inner offsets are relative to. Some old producers sent a wrapper offset
    of 0 for any content."""
    if header.magic == 0 or header.base_offset == 0:
        return 0
    if header.base_offset < last_inner:
        raise InvalidRecord(
            f"a wrapper at offset {header.base_offset}, its last message at {last_inner}", offset=position
        )
    return header.base_offset - last_inner


def _unwrap(outer: _Message, position: int, limit: int, check_crc: bool) -> Iterator[_Message]:
    """The messages inside a wrapper; an incomplete last message is ignored, because old brokers cut
    messages off."""
    codec, magic = outer.header.compression, outer.header.magic
    if outer.value is None or codec == _ZSTD:
        raise InvalidRecord("a compressed message without a value, or with zstd, which needs magic 2", offset=position)
    if codec == _LZ4:
        from . import lz4_frame

        data = lz4_frame.decompress(outer.value, limit, any_header_checksum=magic == 0)
    else:
        data = compression.decompress(codec, outer.value, limit)
    at = 0
    while len(data) - at >= LOG_OVERHEAD:
        (length,) = _INT.unpack_from(data, at + 8)
        if length < SMALLEST_LENGTHS[0]:
            raise BadLength(f"a message of {length} bytes", offset=at + 8, path="decompressed messages")
        if length > len(data) - at - LOG_OVERHEAD:
            return
        yield _read_inner(data, at, length, check_crc)
        at += LOG_OVERHEAD + length


def _read_inner(data: bytes, at: int, length: int, check_crc: bool) -> _Message:
    magic = data[at + 16]
    if magic not in SMALLEST_LENGTHS or length < SMALLEST_LENGTHS[magic]:
        raise InvalidRecord(f"magic {magic} in {length} bytes", offset=at, path="decompressed messages")
    header = read_legacy_header(data, at)
    if header.compression != _NONE:
        raise InvalidRecord("a compressed message inside a compressed one", offset=at, path="decompressed messages")
    if check_crc and zlib.crc32(memoryview(data)[at + LEGACY_CRC_START : at + header.size]) != header.crc:
        raise CorruptBatch("the checksum of a message does not match", offset=at, path="decompressed messages")
    return _read_message(data, at, header, 0)


def _read_message(data: bytes, at: int, header: BatchHeader, start: int) -> _Message:
    """Key and value; the bytes after them are ignored. `start` is added to the offsets in
    errors."""
    end = at + header.size
    key, after = _nullable(data, at + (26 if header.magic else 18), end, "key", start)
    value, _ = _nullable(data, after, end, "value", start)
    return _Message(header, key, value)


def _nullable(data: bytes, at: int, end: int, field: str, start: int) -> tuple[bytes | None, int]:
    if end - at < 4:
        raise InvalidRecord(f"the message ends before the {field}'s length", offset=start + at)
    (length,) = _INT.unpack_from(data, at)
    if length < 0:
        return None, at + 4
    if length > end - at - 4:
        raise InvalidRecord(f"a {field} of {length} bytes, {end - at - 4} are left", offset=start + at)
    return data[at + 4 : at + 4 + length], at + 4 + length
