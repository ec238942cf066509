"""The rows of an annotated hexdump, and their text.

The rows of layer 0 hold every dumped byte exactly once, in order. Rows of a deeper layer are
decompressed bytes of a row above them; their offsets are relative to the first decompressed byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkadouble.wire.errors import WireError

from .text import HIDDEN, TREE, TextLimits, plain

Raw = bytes
_PER_LINE = 8


class FieldRow(NamedTuple):
    """Bytes at an offset, their field, and its value as `decode` returns it; a WireError where
    reading stopped.

    `path` has the form of paths in WireErrors. `what` is the part of the field: its value, length,
    count, marker, tag. `text` is the value for readers.
    """

    offset: int
    bytes: Raw
    path: str
    value: object
    what: str = "value"
    text: str = ""
    layer: int = 0
    hidden: bool = False

    @property
    def end(self) -> int:
        return self.offset + len(self.bytes)

    def __repr__(self) -> str:
        return f"Row({self.offset}, {len(self.bytes)} bytes, {label(self)})"


def error_row(error: WireError, data: Raw, offset: int, layer: int = 0, hidden: bool = False) -> FieldRow:
    """The last row of bytes that cannot be read to their end: the remaining bytes, and the
    error."""
    return FieldRow(offset, data, error.path, error, "unread", str(error), layer, hidden)


def moved(row: FieldRow, by: int) -> FieldRow:
    """The same row moved by `by` bytes; decompressed bytes keep their offset."""
    if not by or row.layer:
        return row
    if not isinstance(row.value, WireError):
        return row._replace(offset=row.offset + by)
    error, offset = row.value, row.value.offset + by if row.value.offset >= 0 else -1
    return error_row(
        type(error)(error.problem, offset=offset, path=error.path), row.bytes, row.offset + by, 0, row.hidden
    )


def first_error(rows: Iterable[FieldRow]) -> WireError | None:
    """The error of the first row that has one."""
    return next((row.value for row in rows if isinstance(row.value, WireError)), None)


def label(row: FieldRow) -> str:
    """Path, part and value."""
    if isinstance(row.value, WireError):
        return f"!! {row.text}" + (f" ({row.value.offset:#x})" if row.value.offset > 9 else "")
    text = HIDDEN if row.hidden else row.text or plain(row.value)
    name = row.path if row.what == "value" else f"{row.path}, {row.what}" if row.path else row.what
    return f"{name} = {text}"


def render(rows: Iterable[FieldRow], bounds: TextLimits = TREE) -> Iterator[str]:
    """The rows as lines: offset, bytes, path and value. A value without bytes has no line, because
    the line of its length shows 0."""
    for row in rows:
        if row.bytes or isinstance(row.value, WireError):
            yield from _lines(row, bounds)


def _lines(row: FieldRow, bounds: TextLimits) -> Iterator[str]:
    shown = b"" if row.hidden else row.bytes[: max(bounds.data, _PER_LINE)]
    first = "-- " * min(len(row.bytes), _PER_LINE) if row.hidden else shown[:_PER_LINE].hex(" ")
    yield f"{_offset_text(row, 0)}  {first.rstrip():<{3 * _PER_LINE}} {label(row)}"
    for at in range(_PER_LINE, len(shown), _PER_LINE):
        yield f"{_offset_text(row, at)}  {shown[at : at + _PER_LINE].hex(' ')}"
    left = 0 if row.hidden else len(row.bytes) - len(shown)
    if left:
        yield f"{_offset_text(row, len(shown))}  ... {left} more bytes"


def _offset_text(row: FieldRow, at: int) -> str:
    return f"{'>' * row.layer}{row.offset + at:0{8 - row.layer}x}"
