"""Traces a record batch value by value, with the position of each, for annotated hexdumps.

The positions in the header are computed from the layouts that the readers unpack. The positions in
records are recorded by the cursor of the careful reader, so this file does not repeat the order of
the record fields. Tracing is slow, and no server path uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from . import compression, legacy, lz4_frame
from .batch_header import HEADER, LOG_OVERHEAD, SMALLEST_LENGTHS, BatchHeader
from .checksum import Buffer
from .errors import InvalidRecord
from .record_careful import BatchContext, _Cursor, _read_record

_BATCH = (
    "base_offset", "batch_length", "partition_leader_epoch", "magic", "crc", "attributes", "last_offset_delta", "base_timestamp",
    "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "records_count",
)  # fmt: skip
_MESSAGE = ("offset", "message_size", "crc", "magic", "attributes", "timestamp")
MAGIC_POSITION = 16
_LAYOUTS = {
    0: (legacy._START.format, _MESSAGE[:-1]),
    1: (legacy._START.format + legacy._LONG.format[1:], _MESSAGE),
    2: (HEADER.format, _BATCH),
}
_START = (">qi", _BATCH[:2])  # the fields that every magic has


class TracedBytes(NamedTuple):
    """Bytes `start` to `end` are `value`, None for a null; `path` names the field, outermost
    first."""

    start: int
    end: int
    path: str
    value: int | bytes | None


def trace_header(buffer: Buffer, position: int) -> Iterator[TracedBytes]:
    """The complete fields of the header at `position`. For an unknown magic, only the fields that
    every magic has."""
    magic = buffer[position + MAGIC_POSITION] if position + MAGIC_POSITION < len(buffer) else -1
    layout, names = _LAYOUTS.get(magic, _START)
    for letter, name in zip(layout[1:], names, strict=True):
        field = Struct(">" + letter)
        if position + field.size > len(buffer):
            return
        yield TracedBytes(position, position + field.size, name, field.unpack_from(buffer, position)[0])
        position += field.size


def trace_records(body: bytes, count: int, context: BatchContext) -> Iterator[TracedBytes]:
    """The `count` records that fill `body`, whose first byte is at `context.start`. Raises
    InvalidRecord after the last value that can be read."""
    cursor = _RecordingCursor(body, context)
    for index in range(count):
        cursor.path = f"{context.path}[{index}]"
        problem = cursor.listen()
        yield from cursor.traced
        if problem is not None:
            raise problem
    if cursor.position != len(body) or count < 0:
        cursor.path = context.path
        raise cursor.invalid(f"{len(body) - cursor.position} bytes are left after {count} records")


def trace_message(data: bytes, position: int, header: BatchHeader) -> Iterator[TracedBytes]:
    """Key and value of the message of magic 0 or 1 at `position`, after its header. Raises
    InvalidRecord when they are missing."""
    at, end = position + (26 if header.magic else 18), position + header.size
    for field in ("key", "value"):
        value, after = legacy._nullable(data, at, end, field, 0)
        yield TracedBytes(at, at + 4, f"{field}_length", int.from_bytes(data[at : at + 4], "big", signed=True))
        if value is not None:
            yield TracedBytes(at + 4, after, field, value)
        at = after


def unwrapped(header: BatchHeader, value: bytes, limit: int) -> bytes:
    """The messages in the value of a compressed message of magic 0 or 1. Raises BadCompression,
    TooLarge."""
    if header.compression == legacy._LZ4:
        return lz4_frame.decompress(value, limit, any_header_checksum=header.magic == 0)
    return compression.decompress(header.compression, value, limit)


def inner_positions(data: bytes) -> Iterator[int]:
    """The positions of the messages inside a compressed one. An incomplete last message is ignored,
    as in Kafka."""
    position = 0
    while len(data) - position >= LOG_OVERHEAD:
        size = int.from_bytes(data[position + 8 : position + 12], "big", signed=True) + LOG_OVERHEAD
        if size < LOG_OVERHEAD + SMALLEST_LENGTHS[0] or size > len(data) - position:
            return
        yield position
        position += size


class _RecordingCursor(_Cursor):
    """A cursor of the careful reader that records each value that was read."""

    def __init__(self, body: bytes, context: BatchContext) -> None:
        super().__init__(body, context)
        self.context = context
        self.traced: list[TracedBytes] = []
        self.header = -1

    def listen(self) -> InvalidRecord | None:
        """Reads one record. Returns its error, or None."""
        self.traced, self.header = [], -1
        try:
            _read_record(self, self.context)
        except InvalidRecord as problem:
            return problem
        return None

    def byte(self, field: str) -> int:
        start = self.position
        value = super().byte(field)
        self.note(start, field, value)
        return value

    def varint(self, field: str, bits: int = 32) -> int:
        start, before, header = self.position, len(self.traced), self.header
        try:
            value = super().varint(field, bits)
        finally:
            del self.traced[before:]  # the single bytes
            self.header = header
        self.note(start, field, value)
        return value

    def take(self, length: int, field: str) -> bytes:
        start = self.position
        value = super().take(length, field)
        self.note(start, field, value)
        return value

    def note(self, start: int, field: str, value: int | bytes) -> None:
        name = field.removeprefix("record ").replace(" ", "_")
        if field.startswith("header ") and field != "header count":
            self.header += field == "header name length"
            name = f"headers[{self.header}].{name.removeprefix('header_')}"
        self.traced.append(TracedBytes(self.start + start, self.start + self.position, f"{self.path}.{name}", value))
