"""Records in flight for tests: batches of a log, requests, and states in a short form."""

from __future__ import annotations

from kafkadouble.server.share.acquisition import AcquiredRecords, AcquireRequest, ShareAcquireMode, acquire
from kafkadouble.server.share.in_flight_records import InFlightRecords
from kafkadouble.server.share.persister import PersisterStateBatch
from kafkadouble.server.share.record_state import RecordState
from kafkadouble.server.share.share_group_config import ShareGroupConfig
from kafkadouble.wire.batch import BatchHeader

GROUP = ShareGroupConfig()
NOW = 1_000_000
MANY = 500

State = tuple[int, int, RecordState, int, str]
"""First offset, last offset, state, delivery count, member."""


def header(first: int, last: int, producer_id: int = -1, attributes: int = 0) -> BatchHeader:
    """The header of a batch that holds these offsets."""
    count = last - first + 1
    return BatchHeader(first, 61, 0, 2, 0, attributes, last - first, 0, 0, producer_id, 0, -1, count)


def headers(*ranges: tuple[int, int]) -> list[BatchHeader]:
    """The headers of batches that hold these offsets."""
    return [header(first, last) for first, last in ranges]


def kept(first: int, last: int, state: RecordState, count: int = 1) -> PersisterStateBatch:
    return PersisterStateBatch(first, last, state, count)


def take(
    records: InFlightRecords,
    *ranges: tuple[int, int],
    member: str = "m",
    most: int = MANY,
    size: int = MANY,
    mode: ShareAcquireMode = ShareAcquireMode.BATCH_OPTIMIZED,
    group: ShareGroupConfig = GROUP,
    now: int = NOW,
) -> list[AcquiredRecords]:
    """Acquires records for a member from a log with these batches, from the next fetch offset
    on."""
    offset = records.next_fetch_offset
    read = [each for each in headers(*ranges) if each.last_offset >= offset]
    return acquire(records, read, AcquireRequest(member, offset, most, size, mode), group, now)


def states(records: InFlightRecords) -> list[State]:
    """Every state in flight; neighbours that are alike are shown as one."""
    found: list[State] = []
    for batch in records:
        for state in batch.states:
            shown = (state.state, state.delivery_count, state.member_id)
            if found and found[-1][1] + 1 == state.first_offset and found[-1][2:] == shown:
                found[-1] = (found[-1][0], state.last_offset, *shown)
            else:
                found.append((state.first_offset, state.last_offset, *shown))
    return found
