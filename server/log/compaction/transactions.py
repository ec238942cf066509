"""Which records of aborted transactions are to go, and which markers stand for nothing any more (KIP-98, KIP-534).

One of these follows the batches of one pass over a log, in their order. What an aborted transaction wrote goes at once; a marker goes when no
batch of its transaction was met before it, that is one pass later.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.wire.batch import BatchHeader
from kafkadouble.wire.checksum import Buffer

from ..marker import read_marker
from ..transactions import AbortedTransaction


class CleanedTransactions:
    """The transactions that a pass is inside of."""

    def __init__(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._to_come = sorted(aborted, key=lambda transaction: transaction.first_offset)
        self._aborted: dict[int, bool] = {}  # producer id of an aborted transaction -> whether a batch of it was met
        self._committed: set[int] = set()  # producers of other transactions, of which a batch was met

    def is_obsolete(self, header: BatchHeader, batch: Buffer) -> bool:
        """Whether a batch may go because of its transaction: it is data of an aborted one, or a marker without data."""
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
