"""The watcher of a cluster with transactions: it also watches the coordinators' topics, and reads
the transactions in what is committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE

from ..member import Member
from ..replicas import Replica
from ..watch import Watch
from .ledger import Ledger

if TYPE_CHECKING:
    from .cluster import TransactionalCluster

COORDINATORS = 2

INTERNAL = {TRANSACTION_STATE: COORDINATORS, CONSUMER_OFFSETS: 1}
"""The number of partitions of each."""


class TransactionalWatch(Watch):
    """`internal` are the watchers of the coordinators' topics."""

    def __init__(self, cluster: TransactionalCluster) -> None:
        super().__init__(cluster)
        self.internal = {topic: Watch(cluster, topic, count) for topic, count in INTERNAL.items()}
        self.ledger = Ledger(self.is_whole)

    def is_whole(self) -> bool:
        """Whether no committed record of any topic was lost, or may be lost at present."""
        return all(history.is_intact for watch in (self, *self.internal.values()) for history in watch.histories)

    def started(self, member: Member) -> None:
        super().started(member)
        for watch in self.internal.values():
            watch.started(member)

    def loses_power(self, member: Member) -> None:
        super().loses_power(member)
        for watch in self.internal.values():
            watch.loses_power(member)

    def look(self, member: Member) -> None:
        super().look(member)
        for watch in self.internal.values():
            watch.look(member)

    def _commit(self, replica: Replica, since: int, upto: int) -> None:
        super()._commit(replica, since, upto)
        self.ledger.read(replica.index, self.histories[replica.index])

    def compare(self) -> None:
        super().compare()
        for watch in self.internal.values():
            for index in watch.partitions:
                watch.compare_replicas(index)
