"""A node with transactional ids in chosen states, for the tests of what the coordinator shows."""

from typing import Any

from kafkadouble.server.metadata.internal_topics import TRANSACTION_STATE
from kafkadouble.server.transactions.transaction_metadata import TransactionalIdEntry, TransactionMetadata
from tests.server.harness import NOW, Harness


class Coordinated(Harness):
    """A harness that coordinates every transactional id."""

    def __init__(self) -> None:
        super().__init__({"transaction.state.log.num.partitions": 3})
        self.node.controller.create_internal_topic(TRANSACTION_STATE)

    def put(self, transactional_id: str, producer_id: int = 1, **fields: Any) -> None:
        """Gives the id a state; the fields are those of `TransactionMetadata`."""
        metadata = TransactionMetadata(producer_id, **{"producer_epoch": 0, "txn_start_timestamp": NOW, **fields})
        entries = self.node.transactions.shard(transactional_id).entries
        entries[transactional_id] = TransactionalIdEntry(transactional_id, metadata)
