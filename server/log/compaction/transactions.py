"""Which records of aborted transactions are removed, and which markers have no data left (KIP-98,
KIP-534).

One CleanedTransactions follows the batches of one pass over a log, in their order. The records of
an aborted transaction are removed at once. A marker is removed when no batch of its transaction was
met before it, which is one pass later.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.wire.batch import BatchHeader
from kafkadouble.wire.checksum import Buffer

from ..marker import read_marker
from ..transactions import AbortedTransaction


class CleanedTransactions:
    """The transactions that are open at the current batch of a pass."""

    def __init__(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._to_come = sorted(aborted, key=lambda transaction: transaction.first_offset)
        # Producer id of an aborted transaction -> whether one of its batches was met.
        self._aborted: dict[int, bool] = {}
        # Producers of other transactions of which a batch was met.
        self._committed: set[int] = set()

    def is_obsolete(self, header: BatchHeader, batch: Buffer) -> bool:
        """Whether a batch may be removed because of its transaction: it is data of an aborted one,
        or a marker without data."""
        return self._marker(header, batch) if header.is_control else self._data(header)

    def _data(self, header: BatchHeader) -> bool:
        while self._to_come and self._to_come[0].first_offset <= header.last_offset:
            self._aborted[self._to_come.pop(0).producer_id] = False
        if not header.is_transactional:
            return False
        if header.producer_id in self._aborted:
            self._aborted[header.producer_id] = True
            return True
        self._committed.add(header.producer_id)
        return False

    def _marker(self, header: BatchHeader, batch: Buffer) -> bool:
        marker = read_marker(batch)
        if marker is None:
            return False
        producer = header.producer_id
        if marker.aborted:
            while self._to_come and self._to_come[0].first_offset <= header.last_offset:
                self._aborted[self._to_come.pop(0).producer_id] = False
            return not self._aborted.pop(producer, False)
        met = producer in self._committed
        self._committed.discard(producer)
        return not met
