"""The watcher of a cluster with transactions: it also watches the coordinators' topics, and reads
the transactions in what is committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE

from ..internal import InternalWatch
from ..replicas import Replica
from .ledger import Ledger

if TYPE_CHECKING:
    from .cluster import TransactionalCluster

COORDINATORS = 2

INTERNAL = {TRANSACTION_STATE: COORDINATORS, CONSUMER_OFFSETS: 1}
"""The number of partitions of each."""


class TransactionalWatch(InternalWatch):
    """Has the ledger of all transactions."""

    def __init__(self, cluster: TransactionalCluster) -> None:
        super().__init__(cluster, INTERNAL)
        self.ledger = Ledger(self.is_whole)

    def _commit(self, replica: Replica, since: int, upto: int) -> None:
        super()._commit(replica, since, upto)
        self.ledger.read(replica.index, self.histories[replica.index])
