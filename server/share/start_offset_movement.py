"""Moves the start offset of a share partition: past records that are done, and past records that
the log no longer has (KIP-932).

Records that the log has lost are archived as far as they are available. A member that holds others
may still acknowledge them; they are archived when it releases them.
"""

from __future__ import annotations

from collections.abc import Iterable

from .in_flight_batch import InFlightBatch
from .in_flight_records import InFlightRecords
from .record_state import AVAILABLE, RecordState


def advance(records: InFlightRecords) -> bool:
    """Moves the start offset past every record that is done; returns whether it can move.

    Batches that are wholly before it are forgotten.
    """
    if not _starts_with_done(records):
        return False
    last_done = _last_done(records)
    if last_done is None:
        return False
    if last_done == records.last_offset:
        records.clear(last_done + 1)
        return True
    batch = records.floor(last_done)
    assert batch is not None, "the batch of the last record that is done"
    if last_done < batch.last_offset:
        records.start_offset = max(records.start_offset, last_done + 1)
        records.remove_before(batch.first_offset)
        return True
    records.start_offset = max(records.start_offset, records.higher_key(last_done))
    gap = records.open_gap
    if gap is not None:
        records.start_offset = min(records.start_offset, gap.start)
    records.remove_before(batch.first_offset + 1)
    return True


def _starts_with_done(records: InFlightRecords) -> bool:
    """Whether the record at the start offset is done; not if it is in a gap, to be delivered."""
    batch = records.floor(records.start_offset)
    if batch is None:
        return False
    state = batch.state_at(records.start_offset) if batch.is_split else batch.whole
    return state is not None and state.is_done


def _last_done(records: InFlightRecords) -> int | None:
    """The last offset before the first record that is not done, or that may be in a gap."""
    last_done, gap = None, records.open_gap
    for batch in records:
        if gap is not None and batch.last_offset >= gap.start:
            break
        for state in batch.states:
            if not state.is_done:
                return last_done
            last_done = state.last_offset
    return last_done


def move_to_log_start(records: InFlightRecords, log_start_offset: int) -> bool:
    """The log begins later than the share partition; return False if it does not."""
    if log_start_offset <= records.start_offset:
        return False
    if records.is_empty:
        records.clear(log_start_offset)
        return True
    if archive(records, records, records.start_offset, log_start_offset, AVAILABLE):
        records.mark_available()
    gap = records.open_gap
    if gap is not None:  # Kafka keeps the gap, and tries forever to read it
        records.fill_gaps(max(gap.start, log_start_offset))
    records.start_offset = log_start_offset
    records.end_offset = max(records.end_offset, log_start_offset)
    return True


def archive_stale(records: InFlightRecords, fetch_offset: int, base_offset: int) -> None:
    """A read from `fetch_offset` began at `base_offset`: the log has no records in between, because
    they were compacted away."""
    if fetch_offset >= base_offset:
        return
    floor = records.floor(fetch_offset)
    first = floor.first_offset if floor is not None and floor.last_offset >= fetch_offset else fetch_offset
    stale = records.beginning_between(first, base_offset - 1)
    if archive(records, stale, fetch_offset, base_offset, AVAILABLE):
        records.mark_available()


def archive(
    records: InFlightRecords, batches: Iterable[InFlightBatch], first_offset: int, end_offset: int, only: RecordState
) -> bool:
    """Archives the records in the state `only` from `first_offset` to before `end_offset`; returns
    whether there are any."""
    archived = False
    for batch in batches:
        if batch.first_offset >= end_offset:
            break
        if not batch.is_split and batch.whole.state is not only:
            continue
        is_whole = not batch.is_split and batch.is_within(first_offset, end_offset - 1)
        for state in batch.states if is_whole else batch.between(first_offset, end_offset - 1):
            if state.state is only:
                state.archive()
                archived = True
    return archived
