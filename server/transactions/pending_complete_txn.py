"""A transaction whose outcome is decided, and whose markers are being written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .transaction_metadata import TransactionalIdEntry, TransactionMetadata

if TYPE_CHECKING:
    from .transaction_coordinator_shard import TransactionCoordinatorShard


class PendingCompleteTxn(NamedTuple):
    """`following` is the state to write when every partition has its marker. The markers have the
    producer id and epoch of the entry's current state."""

    shard: TransactionCoordinatorShard
    entry: TransactionalIdEntry
    committed: bool
    following: TransactionMetadata

    @property
    def is_over(self) -> bool:
        """Whether another coordinator goes on with the transaction, or it needs no further step."""
        return self.shard.closed or self.entry.pending_state is not self.following.state
