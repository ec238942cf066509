"""Reads all of a segment that may be damaged: every batch, what is wrong with it, and the
unreadable bytes between batches.

A batch with a wrong checksum or wrong offsets is still found if a batch, or the end of the file,
follows where its length says. After bytes that are no batch, the next batch is searched byte by
byte. Memory holds one batch at a time. This file opens nothing: the caller passes something that
can be sliced.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkadouble.wire.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader, check_crc, read_header
from kafkadouble.wire.batch_header import COMPRESSION_MASK
from kafkadouble.wire.compression import CODECS, LIMIT
from kafkadouble.wire.errors import Truncated, WireError

from .errors import BadFile, TornTail
from .segment import REACH, OffsetOrder, is_room
from .sparse import Sliceable

LARGEST = LIMIT
"""A larger batch does not count as one: no node accepts it."""

_MAGIC = 16
_WINDOW = 1 << 20
# How many bytes of checksums a search may compute: hostile bytes can look like the beginning of a
# batch everywhere.
_BUDGET = 1 << 28
_FLAGS = 0x7F  # all attributes that have a meaning


class ScannedBatch(NamedTuple):
    """A batch: its position, its header and all its bytes, and what is wrong with it, if
    anything."""

    position: int
    header: BatchHeader
    data: bytes
    problem: BadFile | None


class UnreadableBytes(NamedTuple):
    """Bytes from `position` to `end` that hold no readable batch. `problem` is a TornTail if the
    file only ends too early."""

    position: int
    end: int
    problem: BadFile


def scan(data: Sliceable, base_offset: int | None = None, file: str = "") -> Iterator[ScannedBatch | UnreadableBytes]:
    """Everything in `data`, in order. `base_offset` is the segment's, if it is known."""
    position, order = 0, OffsetOrder(base_offset)
    while position < len(data):
        found = _at(data, position, order, file)
        if isinstance(found, ScannedBatch):
            position += len(found.data)
            yield found
            continue
        end = next_batch(data, position + 1, base_offset)
        yield UnreadableBytes(position, end, _lost(data, position, end, found, file))
        position = end


def _at(data: Sliceable, position: int, order: OffsetOrder, file: str) -> ScannedBatch | WireError:
    """The batch at `position`; or why there is none, or none with a credible length."""
    piece = _piece(data, position)
    try:
        header = read_header(piece)
        if position + header.size > len(data) or header.size > LARGEST:
            raise Truncated(f"a batch of {header.size} bytes, {len(data) - position} are left")
    except WireError as error:
        return error
    problem = _wrong(data, piece, header, position, order, file)
    if problem is not None and problem.path == "crc" and not _leads_somewhere(data, position + header.size):
        return problem
    return ScannedBatch(position, header, piece, problem)


def _wrong(
    data: Sliceable, piece: bytes, header: BatchHeader, position: int, order: OffsetOrder, file: str
) -> BadFile | None:
    try:
        check_crc(piece, 0, header)
    except WireError as error:
        return BadFile(error.problem, file=file, offset=position, path="crc")
    misplaced = _contradicted(data, header, position, order) or order.problem(header)
    return None if misplaced is None else BadFile(misplaced, file=file, offset=position, path="base_offset")


def _contradicted(data: Sliceable, header: BatchHeader, position: int, order: OffsetOrder) -> str | None:
    """Offsets are not covered by the checksum. When one is too large, the next batch shows it, and
    this batch is to blame, not the next one."""
    if header.base_offset <= order.next_offset:
        return None
    try:
        behind = read_header(_piece(data, position + header.size))
    except WireError:
        return None
    if not order.next_offset <= behind.base_offset < header.next_offset:
        return None
    return f"offsets {header.base_offset} to {header.last_offset}, but the next batch begins at {behind.base_offset}"


def _piece(data: Sliceable, position: int) -> bytes:
    """The bytes of a batch, as long as its length says; or the first bytes of what is no batch."""
    head = bytes(data[position : position + HEADER_SIZE])
    size = int.from_bytes(head[8:LOG_OVERHEAD], "big", signed=True) + LOG_OVERHEAD
    if HEADER_SIZE < size <= min(LARGEST, len(data) - position):
        return head + bytes(data[position + HEADER_SIZE : position + size])
    return head[: max(size, 0)] if LOG_OVERHEAD < size <= HEADER_SIZE else head


def _leads_somewhere(data: Sliceable, position: int) -> bool:
    """Whether the file ends at `position`, or a good batch begins there."""
    if position >= len(data):
        return position == len(data)
    piece = _piece(data, position)
    try:
        check_crc(piece, 0, read_header(piece))
    except WireError:
        return False
    return True


def _lost(data: Sliceable, position: int, end: int, error: WireError, file: str) -> BadFile:
    if isinstance(error, BadFile):
        return error
    if end == len(data) and isinstance(error, Truncated):
        return TornTail(f"{end - position} bytes left, the batch has more", file=file, offset=position)
    if end == len(data) and is_room(data, position):
        return TornTail(f"{end - position} bytes of zeros, where nothing was written", file=file, offset=position)
    return BadFile(error.problem, file=file, offset=position, path=error.path)


def next_batch(data: Sliceable, position: int, base_offset: int | None = None) -> int:
    """The position of the next batch of magic 2 with a good checksum, at or after `position`; the
    end of the data when there is none, or when the search costs too much."""
    budget = _BUDGET
    while window := bytes(data[position : min(position + _WINDOW, len(data))]):
        at = window.find(b"\x02", _MAGIC)
        while 0 <= at <= len(window) - HEADER_SIZE + _MAGIC:
            start = at - _MAGIC
            header = _likely(window, start, len(data) - position - start, base_offset)
            if header is not None:
                budget -= header.size
                if budget < 0:
                    return len(data)
                if _leads_to_itself(data, position + start, header):
                    return position + start
            at = window.find(b"\x02", at + 1)
        position += max(len(window) - HEADER_SIZE + 1, HEADER_SIZE)
    return len(data)


def _likely(window: bytes, start: int, left: int, base_offset: int | None) -> BatchHeader | None:
    """The header of what may be a batch."""
    try:
        header = read_header(window, start, partial=True)
    except WireError:
        return None
    least = 0 if base_offset is None else base_offset
    most = 2**63 - 1 if base_offset is None else base_offset + REACH
    believed = (
        header.magic == 2
        and header.size <= min(left, LARGEST)
        and not header.attributes & ~_FLAGS
        and header.attributes & COMPRESSION_MASK in CODECS
        and least <= header.base_offset <= header.last_offset <= most
        and header.count >= 0
    )
    return header if believed else None


def _leads_to_itself(data: Sliceable, position: int, header: BatchHeader) -> bool:
    try:
        check_crc(bytes(data[position : position + header.size]), 0, header)
    except WireError:
        return False
    return True
