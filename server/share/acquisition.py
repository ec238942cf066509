"""Acquires records for a member of a share group: marks them as its own, and says which they are.

A member acquires what was released first, then what was never delivered. In the mode
`batch_optimized` it gets whole batches, even beyond its limit, cut into ranges of about
`batch_size` offsets at the bounds of record batches; with `record_limit` it never gets more records
than it wants, in one range (KIP-1206).

A record that was often delivered may break every member that gets it. From half of the delivery
count limit on, fewer and fewer records are delivered together with it, and it is alone in its last
delivery.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from math import ceil
from typing import NamedTuple

from kafkadouble.wire.batch import BatchHeader

from .in_flight_batch import InFlightBatch
from .in_flight_records import InFlightRecords
from .in_flight_state import InFlightState
from .record_state import ACQUIRED, AVAILABLE
from .share_group_config import ShareGroupConfig
from .start_offset_movement import archive_stale

LEAST_THROTTLE = 2
"""No record is throttled before it was delivered so often."""


class ShareAcquireMode(IntEnum):
    """How many records a fetch acquires."""

    BATCH_OPTIMIZED = 0
    RECORD_LIMIT = 1


class AcquiredRecords(NamedTuple):
    """A range of offsets that a member has acquired, and how often it was delivered."""

    first_offset: int
    last_offset: int
    delivery_count: int

    @property
    def record_count(self) -> int:
        """The number of offsets."""
        return self.last_offset - self.first_offset + 1


class AcquireRequest(NamedTuple):
    """The limits that a member requested. `fetch_offset` is where the record batches were read
    from."""

    member_id: str
    fetch_offset: int
    max_records: int
    batch_size: int = 1
    mode: ShareAcquireMode = ShareAcquireMode.BATCH_OPTIMIZED


def acquire(
    records: InFlightRecords,
    batches: Sequence[BatchHeader],
    request: AcquireRequest,
    group: ShareGroupConfig,
    now: int,
) -> list[AcquiredRecords]:
    """Acquires what is available of these record batches, which were read from the log."""
    if request.max_records <= 0 or not batches or batches[-1].last_offset < records.start_offset:
        return []
    last_offset, most = _bounds(records, batches[-1].last_offset, request, group)
    if most <= 0:
        return []
    return _Acquisition(records, batches, request, group, now).run(last_offset, most)


def _bounds(
    records: InFlightRecords, last_offset: int, request: AcquireRequest, group: ShareGroupConfig
) -> tuple[int, int]:
    """The last offset, and the number of records, that may be acquired.

    With the maximum in flight, only those of them that were released.
    """
    most = min(request.max_records, group.partition_max_record_locks - records.count)
    if most > 0 or request.fetch_offset > records.end_offset:
        return last_offset, most
    most = min(request.max_records, records.end_offset - request.fetch_offset + 1)
    return min(last_offset, records.end_offset), most


class _Acquisition:
    """One acquisition, and what it has acquired so far."""

    def __init__(
        self,
        records: InFlightRecords,
        batches: Sequence[BatchHeader],
        request: AcquireRequest,
        group: ShareGroupConfig,
        now: int,
    ) -> None:
        self._records, self._batches, self._request = records, batches, request
        self._limit = group.delivery_count_limit
        self._throttle_from = max(LEAST_THROTTLE, ceil(self._limit / 2))
        self._lock_deadline = now + group.record_lock_duration_ms
        self._limits_records = request.mode is ShareAcquireMode.RECORD_LIMIT
        self._acquired: list[AcquiredRecords] = []
        self._count = 0

    def run(self, last_offset: int, most: int) -> list[AcquiredRecords]:
        records, read_from = self._records, self._batches[0].base_offset
        archive_stale(records, self._request.fetch_offset, read_from)
        base_offset, floor = read_from, records.floor(read_from)
        if floor is not None and floor.last_offset >= base_offset:
            base_offset = floor.first_offset
        overlap = records.beginning_between(min(read_from, base_offset), last_offset)
        if not overlap:
            self._acquire_new(base_offset, last_offset, most)
            return self._acquired
        most = self._acquire_known(overlap, base_offset, read_from, last_offset, most)
        if self._count < most and overlap[-1].last_offset < last_offset:
            self._acquire_new(overlap[-1].last_offset + 1, last_offset, most - self._count)
        if self._acquired:
            records.fill_gaps(self._acquired[-1].last_offset + 1)
        return self._acquired

    def _acquire_known(
        self, overlap: Sequence[InFlightBatch], base_offset: int, read_from: int, last_offset: int, most: int
    ) -> int:
        """Acquires what was released, and what is in gaps; returns `most`, or 0 to stop after
        it."""
        filled_to = base_offset
        for batch in overlap:
            if self._records.open_gap is not None and self._count < most:
                if filled_to < batch.first_offset:
                    self._acquire_new(filled_to, batch.first_offset - 1, most - self._count)
                filled_to = batch.last_offset + 1
            if self._count >= most:
                break
            throttles = self._is_throttled(batch, read_from, last_offset)
            if throttles and self._count:
                return 0
            is_whole = not batch.is_split and batch.is_within(read_from, last_offset)
            if is_whole and not throttles and not (self._limits_records and batch.count > most - self._count):
                state = batch.whole
                if state.is_acquirable:
                    state.acquire(self._request.member_id, self._lock_deadline)
                    self._add(AcquiredRecords(batch.first_offset, batch.last_offset, state.delivery_count))
            elif batch.is_split or batch.whole.is_acquirable:
                got = self._acquire_part(batch, read_from, last_offset, most - self._count)
                if throttles and got:
                    return 0
        return most

    def _is_throttled(self, batch: InFlightBatch, first_offset: int, last_offset: int) -> bool:
        """Whether a record that may be acquired was delivered too often."""
        counts = (
            state.delivery_count
            for state in batch.states
            if state.is_acquirable
            and (not batch.is_split or (state.last_offset >= first_offset and state.first_offset <= last_offset))
        )
        return max(counts, default=0) >= self._throttle_from

    def _acquire_part(self, batch: InFlightBatch, first_offset: int, last_offset: int, most: int) -> int:
        """Acquires single offsets of a batch, as many as throttling allows; returns their
        number."""
        got: list[AcquiredRecords] = []
        count, throttled_to = 0, -1
        for state in batch.between(max(first_offset, batch.first_offset), min(last_offset, batch.last_offset)):
            if not state.is_acquirable:
                continue
            delivered = state.delivery_count
            is_last_try = self._limit > LEAST_THROTTLE and delivered == self._limit - 1
            if is_last_try and count:
                break
            if delivered >= self._throttle_from and throttled_to < 0:
                throttled_to = max(1, batch.count >> (delivered - self._throttle_from + 1))
            # Kafka compares for equality: a limit that is already exceeded does not hold.
            limits = [most if self._limits_records else -1, throttled_to, count + 1 if is_last_try else -1]
            room = min((limit - count for limit in limits if limit > count), default=state.count)
            if room < state.count:
                batch.between(state.first_offset, state.first_offset + room - 1)
            state.acquire(self._request.member_id, self._lock_deadline)
            got.append(AcquiredRecords(state.first_offset, state.last_offset, state.delivery_count))
            count += min(room, state.count)
            if count in limits:
                break
        self._acquired += merged(got)
        self._count += count
        return count

    def _acquire_new(self, first_offset: int, last_offset: int, most: int) -> None:
        """Acquires records that were never delivered, from the start offset on.

        Kafka also acquires records that the log has lost, if a batch holds them and others that it
        still has.
        """
        records = self._records
        first_offset = max(first_offset, records.start_offset)
        if first_offset > last_offset:
            return
        if most < last_offset - first_offset + 1:
            end = _end_of_batch_with(self._batches, first_offset + most - 1)
            last_offset = min(end, last_offset) if records.open_gap is not None else end
        ranges = self._ranges(first_offset, last_offset)
        if self._limits_records and ranges[0].record_count > most:
            acquired = self._add_partly(ranges[0], most)
        else:
            acquired = self._add_new(ranges)
        if records.first_key == first_offset:
            records.start_offset = first_offset
        records.end_offset = max(records.end_offset, last_offset)
        records.fill_gaps((acquired if self._limits_records else last_offset) + 1)

    def _ranges(self, first_offset: int, last_offset: int) -> list[AcquiredRecords]:
        """The offsets in ranges that end with record batches, of `batch_size` or a little more."""
        found = []
        if not self._limits_records and last_offset - first_offset + 1 > self._request.batch_size:
            for batch in self._batches:
                if batch.base_offset > last_offset:
                    break
                if batch.base_offset - first_offset >= self._request.batch_size:
                    found.append(AcquiredRecords(first_offset, batch.base_offset - 1, 1))
                    first_offset = batch.base_offset
        found.append(AcquiredRecords(first_offset, last_offset, 1))
        return found

    def _add_new(self, ranges: Sequence[AcquiredRecords]) -> int:
        for acquired in ranges:
            state = InFlightState(*acquired[:2], ACQUIRED, 1, self._request.member_id, self._lock_deadline)
            self._records.add(InFlightBatch((state,)))
            self._add(acquired)
        return ranges[-1].last_offset

    def _add_partly(self, whole: AcquiredRecords, most: int) -> int:
        """Acquires the first `most` offsets; the others are in flight with them, and available."""
        last_offset = whole.first_offset + most - 1
        taken = InFlightState(
            whole.first_offset, last_offset, ACQUIRED, 1, self._request.member_id, self._lock_deadline
        )
        left = InFlightState(last_offset + 1, whole.last_offset, AVAILABLE, 0)
        self._records.add(InFlightBatch((taken, left), is_split=True))
        self._records.mark_available()
        self._add(AcquiredRecords(whole.first_offset, last_offset, 1))
        return last_offset

    def _add(self, acquired: AcquiredRecords) -> None:
        self._acquired.append(acquired)
        self._count += acquired.record_count


def merged(ranges: Sequence[AcquiredRecords]) -> list[AcquiredRecords]:
    """The same offsets in as few ranges as possible."""
    found: list[AcquiredRecords] = []
    for part in ranges:
        last = found[-1] if found else None
        if (
            last is not None
            and last.last_offset + 1 == part.first_offset
            and last.delivery_count == part.delivery_count
        ):
            found[-1] = last._replace(last_offset=part.last_offset)
        else:
            found.append(part)
    return found


def _end_of_batch_with(batches: Sequence[BatchHeader], offset: int) -> int:
    """The last offset of the record batch that holds `offset`; `offset` itself if none does."""
    found = offset
    for batch in batches:
        if offset < batch.base_offset:
            break
        found = batch.last_offset
    return max(offset, found)
