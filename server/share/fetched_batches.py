"""The record batches that a share fetch has read from one log."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from kafkadouble.wire.batch import decode_records, iter_batches
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.control import ABORT

from ..log.transactions import AbortedTransaction
from .aborted_records import aborted_batches, archive_aborted
from .acquisition import AcquiredRecords
from .in_flight_records import InFlightRecords

CONTROL_TYPE = slice(2, 4)
"""The bytes of a control record's key that hold its type."""


class FetchedBatches:
    """Whole batches, with their headers. `aborted` are the aborted transactions among them, for a
    group with the isolation level read_committed."""

    __slots__ = ("_aborted", "_positions", "headers", "records")

    def __init__(self, records: Buffer, aborted: Sequence[AbortedTransaction] = ()) -> None:
        batches = list(iter_batches(records))
        self.records, self._aborted = records, aborted
        self._positions = [position for position, _ in batches]
        self.headers = [header for _, header in batches]

    def without_aborted(self, in_flight: InFlightRecords, acquired: Sequence[AcquiredRecords]) -> list[AcquiredRecords]:
        """Archives the acquired records of aborted transactions; returns the others."""
        if not self._aborted:
            return list(acquired)
        marked = ((header, self._is_abort_marker(position)) for position, header in enumerate(self.headers))
        return archive_aborted(in_flight, aborted_batches(marked, self._aborted), acquired)

    def _is_abort_marker(self, position: int) -> bool:
        header = self.headers[position]
        if not header.is_control:
            return False
        start = self._positions[position]
        records = decode_records(memoryview(self.records)[start : start + header.size], check_crc=False)
        key = records[0].key if records else None
        return key is not None and int.from_bytes(key[CONTROL_TYPE], "big") == ABORT

    def covering(self, acquired: Sequence[AcquiredRecords]) -> Buffer:
        """The bytes of the batches from the first acquired record to the last one."""
        bases = [header.base_offset for header in self.headers]
        first = max(0, bisect_right(bases, acquired[0].first_offset) - 1)
        last = max(first, bisect_right(bases, acquired[-1].last_offset) - 1)
        if last - first + 1 == len(bases):
            return self.records
        return memoryview(self.records)[self._positions[first] : self._positions[last] + self.headers[last].size]
