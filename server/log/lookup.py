"""Finds offsets by timestamp for ListOffsets (KIP-79, KIP-734, KIP-405, KIP-1023).

The answer is exact to the record: the index leads to a batch, and only that batch is decoded. As in
Kafka a lookup by time looks at one segment only, the first that is late enough, and finds readable
records only, so none below the log start offset. The record with the largest timestamp is that of
the stored log, also below the log start offset. The handler decides how far up a client may see.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kafkadouble.wire.batch import decode_records, read_header
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.record import Record

from .offset_and_epoch import NO_EPOCH
from .retention import age_from
from .storage import LogSegment

if TYPE_CHECKING:
    from .epochs import LeaderEpochCache

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


class SearchedLog(Protocol):
    """A log, as far as a lookup reads it."""

    @property
    def epochs(self) -> LeaderEpochCache: ...

    @property
    def segments(self) -> Sequence[LogSegment]: ...

    @property
    def log_start_offset(self) -> int: ...

    @property
    def log_end_offset(self) -> int: ...


def offset_for(log: SearchedLog, timestamp: int) -> TimestampAndOffset:
    """Answers ListOffsets for a timestamp, or for one of the negative special timestamps."""
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
        return latest_timestamp(log.segments)
    return first_at(log.segments, timestamp, log.log_start_offset)


def first_at(segments: Sequence[LogSegment], timestamp: int, start: int) -> TimestampAndOffset:
    """The first record at or above offset `start` that is no older than `timestamp`, in the first
    segment whose age is not before it."""
    late_enough = (segment for segment in segments if age_from(segment) >= timestamp)
    for batch in (batch for each in islice(late_enough, 1) for batch in each.batches(start, timestamp)):
        for record in _records(batch):
            if record.timestamp >= timestamp and record.offset >= start:
                return TimestampAndOffset(record.timestamp, record.offset, read_header(batch).partition_leader_epoch)
    return NOTHING


def latest_timestamp(segments: Sequence[LogSegment]) -> TimestampAndOffset:
    """The first record that has the largest timestamp of the first batch that is as late as all
    batches."""
    batch = max(segments, key=attrgetter("max_timestamp")).latest_batch()
    if batch is None:
        return NOTHING
    header = read_header(batch)
    for record in _records(batch):
        if record.timestamp == header.max_timestamp:
            return TimestampAndOffset(record.timestamp, record.offset, header.partition_leader_epoch)
    return NOTHING


def _records(batch: Buffer) -> list[Record]:
    """The records of a batch; none when they cannot be read: a large batch may be accepted without
    being read through."""
    try:
        return decode_records(batch, check_crc=False)
    except WireError:
        return []
