"""Archives the records of aborted transactions, which a group with the isolation level
read_committed never gets (KIP-932).

The broker does it, and not the member as with a consumer group: a share group has no position that
could be moved past them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkadouble.wire.batch import BatchHeader

from ..log.transactions import AbortedTransaction
from .acquisition import AcquiredRecords
from .in_flight_records import InFlightRecords
from .record_state import ACQUIRED
from .start_offset_movement import archive


def archive_aborted(
    records: InFlightRecords, aborted: Sequence[BatchHeader], acquired: Sequence[AcquiredRecords]
) -> list[AcquiredRecords]:
    """Archives the acquired records in these record batches; returns what is left of `acquired`."""
    for batch in aborted:
        floor = records.floor(batch.base_offset)
        first = batch.base_offset if floor is None else floor.first_offset
        in_flight = records.beginning_between(first, batch.last_offset)
        archive(records, in_flight, batch.base_offset, batch.last_offset + 1, ACQUIRED)
    left = list(acquired)
    for batch in aborted:
        left = [part for each in left for part in _without(each, batch.base_offset, batch.last_offset)]
    return left


def aborted_batches(
    batches: Iterable[tuple[BatchHeader, bool]], transactions: Iterable[AbortedTransaction]
) -> list[BatchHeader]:
    """The record batches of aborted transactions.

    Each batch comes with whether it is the marker of an abort. A transaction is aborted from its
    first offset on, up to its marker.
    """
    waiting = sorted(transactions, key=lambda aborted: aborted.first_offset, reverse=True)
    producers: set[int] = set()
    headers = []
    for batch, is_abort_marker in batches:
        if batch.producer_id < 0:
            continue
        while waiting and waiting[-1].first_offset <= batch.last_offset:
            producers.add(waiting.pop().producer_id)
        if is_abort_marker:
            producers.discard(batch.producer_id)
        elif batch.is_transactional and batch.producer_id in producers:
            headers.append(batch)
    return headers


def _without(acquired: AcquiredRecords, first_offset: int, last_offset: int) -> list[AcquiredRecords]:
    """The offsets that are not in this range."""
    if acquired.last_offset < first_offset or acquired.first_offset > last_offset:
        return [acquired]
    before = acquired._replace(last_offset=first_offset - 1)
    after = acquired._replace(first_offset=last_offset + 1)
    return [part for part in (before, after) if part.record_count > 0]
