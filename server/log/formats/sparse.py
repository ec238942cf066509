"""The common part of the index files of a segment: entries of one size, and preallocated room after
them.

Kafka preallocates an index when it begins a segment (`segment.index.bytes`), and cuts off the rest
when it closes the segment. So the index of the active segment, also of one that was active when the
node died, ends in zeros: they are no entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Any, Protocol, TypeVar

from kafkadouble.wire.checksum import Buffer

from .errors import BadFile

T = TypeVar("T")

_CHUNK = 1 << 16


class Sliceable(Protocol):
    """Bytes that can be sliced: a buffer, or a file that is read piece by piece."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: slice, /) -> Buffer: ...


def used(data: Sliceable, size: int) -> int:
    """The size in bytes of the entries, of `size` bytes each, up to the zeros at the end; the last
    entry may be incomplete."""
    end = len(data)
    while end > 0:
        start = max(end - _CHUNK, 0)
        if written := bytes(data[start:end]).rstrip(b"\0"):
            return min(-(-(start + len(written)) // size) * size, len(data))
        end = start
    return 0


def unpacked(data: Sliceable, entry: Struct, end: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Every whole entry before `end`, with its position."""
    step = _CHUNK // entry.size * entry.size
    end -= end % entry.size
    for start in range(0, end, step):
        for number, fields in enumerate(entry.iter_unpack(data[start : min(start + step, end)])):
            yield start + number * entry.size, fields


def good(rows: Iterable[tuple[T, BadFile | None]], data: Sliceable, size: int, file: str) -> Iterator[T]:
    """The entries. BadFile at the first wrong one, and for a size that is not whole entries."""
    for entry, problem in rows:
        if problem is not None:
            raise problem
        yield entry
    check_size(data, size, file)


def check_size(data: Sliceable, size: int, file: str) -> None:
    """BadFile unless `data` is whole entries."""
    if len(data) % size:
        text = f"{len(data)} bytes, which is no multiple of the {size} bytes of an entry"
        raise BadFile(text, file=file, offset=len(data) // size * size)
