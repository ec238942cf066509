"""The careful reader of the records inside a batch: slow, the reference for the fast one, and the
source of error messages.

It reads as Java's reader does: a varint of five bytes loses the bits beyond 32, sums of a base and
a delta wrap around at 64 bits, and any negative length is a null. A record that Java refuses raises
InvalidRecord with the byte offset and the field (KIP-98; headers KIP-82).
"""

from typing import NamedTuple

from .errors import InvalidRecord
from .record import Headers, Record


class BatchContext(NamedTuple):
    """The context of a record that its bytes do not contain. `append_time` (LogAppendTime)
    overrides the timestamps. `start` and `path` are for errors: the offset of the body in the
    caller's bytes, and its name."""

    base_offset: int = 0
    base_timestamp: int = 0
    append_time: int | None = None
    start: int = 0
    path: str = "records"


def decode_carefully(body: bytes, count: int, context: BatchContext) -> list[Record]:
    """The `count` records in `body`. Raises InvalidRecord, also for bytes after the last record."""
    if count < 0:
        raise InvalidRecord(f"a count of {count} records", path=context.path)
    cursor = _Cursor(body, context)
    records: list[Record] = []
    while len(records) < count:
        cursor.path = f"{context.path}[{len(records)}]"
        records.append(_read_record(cursor, context))
    if cursor.position != len(body):
        raise cursor.invalid(f"{len(body) - cursor.position} bytes are left after {count} records")
    return records


def wrap64(number: int) -> int:
    """`number` wrapped to a signed 64-bit integer."""
    return (number + (1 << 63) & (1 << 64) - 1) - (1 << 63)


class _Cursor:
    """A position in the body, never beyond the end of the record that is being read."""

    def __init__(self, body: bytes, context: BatchContext) -> None:
        self.body, self.start, self.path = body, context.start, context.path
        self.position, self.end = 0, len(body)

    def invalid(self, problem: str) -> InvalidRecord:
        return InvalidRecord(problem, offset=self.start + self.position, path=self.path)

    def byte(self, field: str) -> int:
        if self.position >= self.end:
            raise self.invalid(f"the bytes end before the {field}")
        self.position += 1
        return self.body[self.position - 1]

    def varint(self, field: str, bits: int = 32) -> int:
        """A zigzag varint of at most 5 (32 bits) or 10 (64 bits) bytes."""
        number = 0
        for shift in range(0, bits, 7):
            byte = self.byte(field)
            number |= (byte & 127) << shift
            if byte < 128:
                number &= (1 << bits) - 1
                return number >> 1 ^ -(number & 1)
        raise self.invalid(f"the varint of the {field} does not end")

    def take(self, length: int, field: str) -> bytes:
        if length > self.end - self.position:
            raise self.invalid(f"a {field} of {length} bytes, {self.end - self.position} are left")
        self.position += length
        return self.body[self.position - length : self.position]

    def nullable(self, field: str) -> bytes | None:
        length = self.varint(f"{field} length")
        return None if length < 0 else self.take(length, field)


def _read_record(cursor: _Cursor, context: BatchContext) -> Record:
    cursor.end = len(cursor.body)
    size = cursor.varint("record length")
    if not 0 <= size <= cursor.end - cursor.position:
        raise cursor.invalid(f"a record of {size} bytes, {cursor.end - cursor.position} are left")
    cursor.end = cursor.position + size
    cursor.byte("attributes")
    timestamp = wrap64(context.base_timestamp + cursor.varint("timestamp delta", 64))
    offset = wrap64(context.base_offset + cursor.varint("offset delta"))
    key = cursor.nullable("key")
    value = cursor.nullable("value")
    headers = _read_headers(cursor)
    if cursor.position != cursor.end:
        raise cursor.invalid(f"{cursor.end - cursor.position} bytes are left in a record of {size} bytes")
    return Record(offset, timestamp if context.append_time is None else context.append_time, key, value, headers)


def _read_headers(cursor: _Cursor) -> Headers:
    count = cursor.varint("header count")
    if not 0 <= count <= cursor.end - cursor.position:
        raise cursor.invalid(f"{count} headers in {cursor.end - cursor.position} bytes")
    headers: list[tuple[str, bytes | None]] = []
    while len(headers) < count:
        length = cursor.varint("header name length")
        if length < 0:
            raise cursor.invalid(f"a header name of {length} bytes")
        name = cursor.take(length, "header name").decode("utf-8", "surrogateescape")
        headers.append((name, cursor.nullable("header value")))
    return tuple(headers)
