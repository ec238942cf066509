"""Finds offsets by timestamp for ListOffsets (KIP-79, KIP-734, KIP-405, KIP-1023).

The answer is exact to the record: the index leads to a batch, and only that batch is decoded. A
lookup finds readable records only, so none below the log start offset; the handler decides how far
up a client may see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.wire.batch import decode_records, read_header
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.record import Record

from .offset_and_epoch import NO_EPOCH
from .storage import LogSegment

if TYPE_CHECKING:
    from .log import PartitionLog

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6


class TimestampAndOffset(NamedTuple):
    """The timestamp, offset and leader epoch of a record; -1 for what does not apply."""

    timestamp: int
    offset: int
    leader_epoch: int = NO_EPOCH


NOTHING = TimestampAndOffset(-1, -1)
"""No record was found."""


def offset_for(log: PartitionLog, timestamp: int) -> TimestampAndOffset:
    """Answer ListOffsets for a timestamp, or for one of the negative special timestamps."""
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        first = log.epochs.earliest
        return TimestampAndOffset(
            -1, log.log_start_offset, first.epoch if first.offset <= log.log_start_offset else NO_EPOCH
        )
    if timestamp == LATEST:
        return TimestampAndOffset(-1, log.log_end_offset, log.epochs.latest)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return NOTHING
    if timestamp == MAX_TIMESTAMP:
        return latest_timestamp(log.segments, log.log_start_offset)
    return first_at(log.segments, timestamp, log.log_start_offset)


def first_at(segments: Sequence[LogSegment], timestamp: int, start: int) -> TimestampAndOffset:
    """The first record at or above offset `start` that is no older than `timestamp`."""
    for batch in _batches(segments, timestamp, start):
        for record in _records(batch):
            if record.timestamp >= timestamp and record.offset >= start:
                return TimestampAndOffset(record.timestamp, record.offset, read_header(batch).partition_leader_epoch)
    return NOTHING


def latest_timestamp(segments: Sequence[LogSegment], start: int) -> TimestampAndOffset:
    """The first record at or above offset `start` that has the largest timestamp of all of them."""
    found = first_at(segments, max((segment.max_timestamp for segment in segments), default=-1), start)
    if found.offset >= 0:
        return found
    # The largest timestamp is below `start`.
    readable = (read_header(batch).max_timestamp for batch in _batches(segments, 0, start))
    highest = max(readable, default=-1)
    return first_at(segments, highest, start) if highest >= 0 else NOTHING


def _batches(segments: Sequence[LogSegment], timestamp: int, start: int) -> Iterator[memoryview]:
    for segment in segments:
        if segment.max_timestamp >= timestamp and segment.next_offset > start:
            yield from segment.batches(start, timestamp)


def _records(batch: memoryview) -> list[Record]:
    """The records of a batch; none when they cannot be read: a large batch may be accepted without
    being read through."""
    try:
        return decode_records(batch, check_crc=False)
    except WireError:
        return []
