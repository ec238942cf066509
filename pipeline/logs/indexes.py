"""The sparse indexes of a segment, looked up: where in the file an offset is, and up to which offset nothing is as late as a timestamp.

An index is a hint. One that is not there, does not ascend, or leads nowhere counts as empty, and then the segment is read from its start; a
position is taken only when a batch with a good checksum begins there, at the offset that the index says.
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
        """Where a batch begins before which no offset is as large as this one; 0 where the index knows nothing better."""
        return self._believed(int(np.searchsorted(self.offsets, offset, "right")) - 1)

    def position_after(self, offset: int) -> int:
        """Where a batch begins from which on no offset is less than this one; the file's end where the index knows nothing better."""
        entry = int(np.searchsorted(self.offsets, offset, "left")) + 1
        return (self._believed(entry) if entry < len(self.offsets) else 0) or len(self._file)

    def border(self, position: int) -> int:
        """Where a batch begins, at this position or soon after it; 0 where the index knows none."""
        entry = int(np.searchsorted(self.positions, position, "left"))
        return self._believed(entry) if entry < len(self.offsets) else 0

    def _believed(self, entry: int) -> int:
        if entry < 0:
            return 0
        position, offset = int(self.positions[entry]), int(self.offsets[entry])
        header = batch_at(self._file, position)
        return position if header is not None and header.base_offset <= offset else 0


def batch_at(file: SegmentFile, position: int) -> BatchHeader | None:
    """The header of the batch that begins there; None when nothing with a good checksum does."""
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
    """The largest offset up to which, as `.timeindex` says, all records are earlier than `timestamp`; -1 when it says nothing."""
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
    """How many entries the indexes by offset, by time and of aborted transactions have; None for one that is not there."""
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
    """A file beside a segment; nothing where there is none, or one of a size that none has."""
    try:
        path = segment.beside(suffix)
        return path.read_bytes() if path.stat().st_size <= LARGEST_INDEX else b""
    except FileNotFoundError:
        return b""
