"""Lists the aborted transactions of a Fetch answer (Kafka's LocalLog.addAbortedTransactions).

Kafka lists the transactions that begin before an upper bound: the first entry of the offset index
at or after the end of the bytes that it sends, or the start of the next segment, or the log end
offset. So a listed transaction may begin after the records of the answer, even beyond the last
stable offset. Clients must compare its first offset with the offsets of the batches.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING

from kafkadouble.wire.batch import read_header

from .storage import ANY_TIMESTAMP, Loan, LogSegment
from .transactions import AbortedTransaction

if TYPE_CHECKING:
    from .log import PartitionLog

_base_offset = attrgetter("base_offset")


def aborted_in_fetch(log: PartitionLog, offset: int, max_bytes: int, end: int, loan: Loan) -> list[AbortedTransaction]:
    """The aborted transactions of the answer to a fetch at `offset`, which is below `end`. `found`
    is what was read of up to `max_bytes` below `end`."""
    if not log.transactions.has_aborted_from(offset):
        return []
    return log.aborted_in(offset, _upper_bound(log, offset, max_bytes, end, loan))


def _upper_bound(log: PartitionLog, offset: int, max_bytes: int, end: int, loan: Loan) -> int:
    segments, following = log.segments, loan.next_offset
    number = bisect_right(segments, max(offset, following - 1), key=_base_offset) - 1
    while number + 1 < len(segments) and segments[number].next_offset <= offset:
        number += 1  # compaction left no batch between
    entry = _entry_after(segments[number], following, end, len(loan.records) < max_bytes)
    if entry is not None:
        return max(entry, following)
    return segments[number + 1].base_offset if number + 1 < len(segments) else log.log_end_offset


def _entry_after(segment: LogSegment, following: int, end: int, has_room: bool) -> int | None:
    """The first entry of the offset index at or after the end of the bytes that Kafka sends. Kafka
    sends a part of the next batch if there is room. An entry at the end is found, unless it is the
    first one of the index: Kafka's binary search misses that."""
    batch = next(segment.batches(following, ANY_TIMESTAMP), None)
    if batch is None:
        return None
    last = read_header(batch).last_offset
    if (has_room and last < end) or segment.entry_from(segment.base_offset) == last:
        return segment.entry_from(last + 1)
    return segment.entry_from(following)
