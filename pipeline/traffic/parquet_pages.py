"""Reads the page headers of a Parquet file, for the decompressed size of each page.

pyarrow allocates the size in a header before it decompresses the page. Only the headers are
reliable: the metadata at the end of a file may have other sizes. A header is a struct in Thrift's
compact protocol; fields that are not needed are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from kafkadouble.wire.errors import WireError

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
MOST_DEPTH = 16
FIRST_READ, MOST_HEADER = 1 << 10, 1 << 20
"""The number of bytes in the first read of a header, and the largest size of a header, with its
statistics."""

UNCOMPRESSED, COMPRESSED, DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 2, 3, 5, 7, 8
"""Fields of a header."""
NUM_VALUES = 1
"""The field with the number of values, in the struct of each kind of page."""


class Page(NamedTuple):
    """One page."""

    uncompressed_bytes: int
    values: int
    is_dictionary: bool


class _Cut(WireError):
    """The bytes end inside a header."""


def pages(file: IO[bytes], start: int, size_bytes: int) -> Iterator[Page]:
    """The pages of a column chunk. Raises WireError for bytes that are no page."""
    at, end = start, start + size_bytes
    while at < end:
        fields, header_bytes = _header(file, at, end)
        kinds = (DATA_PAGE, DATA_PAGE_V2, DICTIONARY_PAGE)
        kind: Any = next((fields[key] for key in kinds if key in fields), {})
        compressed, uncompressed = fields.get(COMPRESSED, -1), fields.get(UNCOMPRESSED, -1)
        values = kind.get(NUM_VALUES, 0) if isinstance(kind, dict) else -1
        if not all(isinstance(number, int) and number >= 0 for number in (compressed, uncompressed, values)):
            raise WireError(f"a page at byte {at} has no size")
        yield Page(uncompressed, values, DICTIONARY_PAGE in fields)
        at += header_bytes + compressed


def _header(file: IO[bytes], at: int, end: int) -> tuple[dict[int, Any], int]:
    """The fields of the header at byte `at`, and its size in bytes."""
    read_bytes = FIRST_READ
    while True:
        file.seek(at)
        data = file.read(min(read_bytes, end - at))
        try:
            reader = _Reader(data)
            return reader.struct(), reader.at
        except _Cut:
            if read_bytes >= MOST_HEADER or len(data) < read_bytes:
                raise WireError(f"the header of a page at byte {at} is cut off") from None
            read_bytes = min(read_bytes * 8, MOST_HEADER)


class _Reader:
    """Reads Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields by their ids: integers, and structs of integers. Fields of other types are
        None."""
        if depth > MOST_DEPTH:
            raise WireError("a header is nested too deeply")
        fields: dict[int, Any] = {}
        last = 0
        while head := self._byte():
            last = last + (head >> 4) if head >> 4 else self._zigzag()
            fields[last] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (I16, I32, I64):
            return self._zigzag()
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (LIST, SET):
            if depth > MOST_DEPTH:
                raise WireError("a header is nested too deeply")
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            for _ in range(count):
                if head & 15 in (TRUE, FALSE):
                    self._skip(1)
                else:
                    self._value(head & 15, depth + 1)
        elif kind == BINARY:
            self._skip(self._varint())
        elif kind in (BYTE, DOUBLE):
            self._skip(1 if kind == BYTE else 8)
        elif kind not in (TRUE, FALSE):
            raise WireError(f"a header has a field of the unknown type {kind}")
        return None

    def _byte(self) -> int:
        self._skip(1)
        return self._data[self.at - 1]

    def _skip(self, count: int) -> None:
        if self.at + count > len(self._data):
            raise _Cut("cut off")
        self.at += count

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise WireError("a number in a header is too long")

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
