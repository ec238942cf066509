"""Which records of aborted transactions are removed, and which markers have no data left (KIP-98,
KIP-534).

One CleanedTransactions follows the batches of one pass over a log, in their order. The records of
an aborted transaction are removed at once. A marker is removed when no batch of its transaction was
met before it, which is one pass later. In that pass the transaction is no longer listed as aborted:
a transaction that stays listed without its marker would have no end, and every later record of its
producer would count as aborted.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.wire.batch import BatchHeader
from kafkadouble.wire.checksum import Buffer

from ..marker import read_marker
from ..transactions import AbortedTransaction


class CleanedTransactions:
    """The transactions that are open at the current batch of a pass. `listed` are the aborted ones
    of which a batch and then the marker were met: those that stay in the transaction index."""

    def __init__(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._to_come = sorted(aborted, key=lambda transaction: transaction.first_offset)
        # By producer id.
        self._aborted: dict[int, AbortedTransaction] = {}
        # Producers of aborted transactions of which a batch was met.
        self._met: set[int] = set()
        # Producers of other transactions of which a batch was met.
        self._committed: set[int] = set()
        self.listed: list[AbortedTransaction] = []

    def is_obsolete(self, header: BatchHeader, batch: Buffer) -> bool:
        """Whether a batch may be removed because of its transaction: it is data of an aborted one,
        or a marker without data."""
        while self._to_come and self._to_come[0].first_offset <= header.last_offset:
            begun = self._to_come.pop(0)
            self._aborted[begun.producer_id] = begun
            self._met.discard(begun.producer_id)
        return self._marker(header, batch) if header.is_control else self._data(header)

    def _data(self, header: BatchHeader) -> bool:
        if not header.is_transactional:
            return False
        aborted = self._aborted.get(header.producer_id)
        if aborted is not None and header.base_offset < aborted.last_offset:
            self._met.add(header.producer_id)
            return True
        self._committed.add(header.producer_id)
        return False

    def _marker(self, header: BatchHeader, batch: Buffer) -> bool:
        marker = read_marker(batch)
        if marker is None:
            return False
        if marker.aborted:
            return not self._ends_aborted(header.producer_id)
        met = header.producer_id in self._committed
        self._committed.discard(header.producer_id)
        return not met

    def _ends_aborted(self, producer_id: int) -> bool:
        """The marker of an aborted transaction was met: whether a batch of it was met before."""
        aborted, met = self._aborted.pop(producer_id, None), producer_id in self._met
        self._met.discard(producer_id)
        if aborted is not None and met:
            self.listed.append(aborted)
        return met

    def take_listed(self) -> list[AbortedTransaction]:
        """Those that were listed since the last call, in the order of their markers."""
        taken, self.listed = self.listed, []
        return taken
