"""Looks up the sparse indexes of a segment: the position of an offset in the file, and the offset
up to which all records are earlier than a timestamp.

An index is a hint. An index that is missing, does not ascend, or has wrong positions counts as
empty, and the segment is read from its start. A position is used only when a batch with a valid
checksum begins there, at the offset in the index.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kafkadouble.server.log.formats import names, offset_index, time_index, txn_index
from kafkadouble.wire.batch import BatchHeader, check_crc, read_header
from kafkadouble.wire.batch_header import HEADER_SIZE, LOG_OVERHEAD
from kafkadouble.wire.errors import WireError

from .segment_file import SegmentFile
from .segments import SegmentListing

LARGEST_INDEX = 1 << 28
_OFFSETS = np.dtype([("offset", ">i4"), ("position", ">i4")])
_TIMES = np.dtype([("timestamp", ">i8"), ("offset", ">i4")])
Ints = npt.NDArray[np.int64]


class OffsetIndex:
    """`.index` of a segment whose file is open."""

    def __init__(self, segment: SegmentListing, file: SegmentFile) -> None:
        self._file = file
        self.offsets, self.positions = _offsets(segment, len(file))

    def position_before(self, offset: int) -> int:
        """The start of a batch such that all offsets before it are smaller than this one; 0 without
        a better entry."""
        return self._believed(int(np.searchsorted(self.offsets, offset, "right")) - 1)

    def position_after(self, offset: int) -> int:
        """The start of a batch from which all offsets are at least this one; the end of the file
        without a better entry."""
        entry = int(np.searchsorted(self.offsets, offset, "left")) + 1
        return (self._believed(entry) if entry < len(self.offsets) else 0) or len(self._file)

    def border(self, position: int) -> int:
        """The start of a batch at this position or soon after it; 0 without an entry."""
        entry = int(np.searchsorted(self.positions, position, "left"))
        return self._believed(entry) if entry < len(self.offsets) else 0

    def _believed(self, entry: int) -> int:
        if entry < 0:
            return 0
        position, offset = int(self.positions[entry]), int(self.offsets[entry])
        header = batch_at(self._file, position)
        return position if header is not None and header.base_offset <= offset else 0


def batch_at(file: SegmentFile, position: int) -> BatchHeader | None:
    """The header of the batch at this position; None without a batch with a valid checksum."""
    head = file[position : position + HEADER_SIZE]
    size = int.from_bytes(head[8:LOG_OVERHEAD], "big", signed=True) + LOG_OVERHEAD
    if not LOG_OVERHEAD < size <= len(file) - position:
        return None
    piece = head + file[position + HEADER_SIZE : position + size]
    try:
        header = read_header(piece)
        check_crc(piece, 0, header)
    except WireError:
        return None
    return header


def quiet_until(segment: SegmentListing, timestamp: int) -> int:
    """The largest offset up to which all records are earlier than `timestamp`, by the `.timeindex`;
    -1 without an entry."""
    data = _read(segment, names.TIME_INDEX)
    found = np.frombuffer(data, _TIMES, len(data) // time_index.SIZE)
    times, offsets = found["timestamp"].astype(np.int64), found["offset"].astype(np.int64)
    end = time_index.used(data) // time_index.SIZE
    times, offsets = times[:end], offsets[:end]
    if not len(times) or not ((np.diff(times) > 0).all() and (np.diff(offsets) >= 0).all() and offsets[0] >= 0):
        return -1
    entry = int(np.searchsorted(times, timestamp, "left")) - 1
    return int(offsets[entry]) + (segment.base_offset or 0) if entry >= 0 else -1


def entries(segment: SegmentListing) -> tuple[int | None, int | None, int | None]:
    """The number of entries of the offset index, the time index and the transaction index; None for
    a missing one."""
    there = segment.path.endswith(names.LOG)
    by_offset, by_time, of_transactions = (
        used(_read(segment, suffix)) // size if there and segment.beside(suffix).exists() else None
        for suffix, used, size in _KINDS
    )
    return by_offset, by_time, of_transactions


_KINDS: tuple[tuple[str, Callable[[bytes], int], int], ...] = (
    (names.INDEX, offset_index.used, offset_index.SIZE),
    (names.TIME_INDEX, time_index.used, time_index.SIZE),
    (names.TXN_INDEX, len, txn_index.SIZE),
)


def _offsets(segment: SegmentListing, log_size: int) -> tuple[Ints, Ints]:
    data = _read(segment, names.INDEX)
    data = data[: offset_index.used(data)]
    found = np.frombuffer(data, _OFFSETS, len(data) // offset_index.SIZE)
    offsets, positions = found["offset"].astype(np.int64), found["position"].astype(np.int64)
    sound = len(offsets) and offsets[0] >= 0 and positions[0] >= 0 and positions[-1] < log_size
    if not sound or not ((np.diff(offsets) > 0).all() and (np.diff(positions) > 0).all()):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return offsets + (segment.base_offset or 0), positions


def _read(segment: SegmentListing, suffix: str) -> bytes:
    """A file that belongs to a segment; empty when it is missing, or has an impossible size."""
    try:
        path = segment.beside(suffix)
        return path.read_bytes() if path.stat().st_size <= LARGEST_INDEX else b""
    except FileNotFoundError:
        return b""
