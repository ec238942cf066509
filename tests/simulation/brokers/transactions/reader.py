"""A simulated read_committed consumer: from each response it drops the records of the aborted
transactions that the response lists, as Kafka's clients do (KIP-98)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..consumer import READ_COMMITTED, Consumer
from ..kept import ABORTED, Kept, kept_in
from . import promises

if TYPE_CHECKING:
    from .cluster import TransactionalCluster


class Reader(Consumer):
    """`returned` are the records that it shows to its application."""

    cluster: TransactionalCluster
    isolation = READ_COMMITTED

    def __init__(self, cluster: TransactionalCluster, id: int, index: int) -> None:
        super().__init__(cluster, id, index)
        self.returned: list[Kept] = []

    def _take(self, data: Any) -> None:
        returned = [kept for kept in committed_of(data) if kept.offset >= self.position]
        is_current = self.cluster.watch.histories[self.index].is_current(self._fetched_in)
        super()._take(data)
        for kept in returned if is_current else ():
            self.cluster.ledger.shown(self, kept)
        self.returned += returned

    def _truncated(self, offset: int) -> None:
        super()._truncated(offset)
        self.returned = [kept for kept in self.returned if kept.offset < offset]

    def check_end(self) -> None:
        committed = self.cluster.ledger.committed_values(self.cluster.watch.histories[self.index])
        promises.reader_gets_all(self, [kept.value for kept in self.returned], committed)

    def __repr__(self) -> str:
        return f"read_committed {super().__repr__()}"


def committed_of(data: Any) -> list[Kept]:
    """The records of a response, without the aborted ones."""
    aborted = sorted((each.first_offset, each.producer_id) for each in data.aborted_transactions or ())
    dropped: set[int] = set()
    found = []
    for kept in kept_in(data.records or b""):
        while aborted and aborted[0][0] <= kept.offset:
            dropped.add(aborted.pop(0)[1])
        if kept.marker == ABORTED:
            dropped.discard(kept.producer)
        elif not (kept.marker or (kept.transactional and kept.producer in dropped)):
            found.append(kept)
    return found
