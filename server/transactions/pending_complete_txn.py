"""A transaction whose outcome is decided, and whose markers are being written."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .transaction_metadata import TransactionalIdEntry, TransactionMetadata


class TransactionShard(Protocol):
    """The shard that decided, as far as its markers need it."""

    @property
    def closed(self) -> bool: ...

    @property
    def coordinator_epoch(self) -> int: ...

    def complete(self, pending: PendingCompleteTxn) -> None:
        """Every partition has its marker."""
        ...


class PendingCompleteTxn(NamedTuple):
    """`following` is the state to write when every partition has its marker. The markers have the
    producer id and epoch of the entry's current state."""

    shard: TransactionShard
    entry: TransactionalIdEntry
    committed: bool
    following: TransactionMetadata

    @property
    def is_over(self) -> bool:
        """Whether another coordinator goes on with the transaction, or it needs no further step."""
        return self.shard.closed or self.entry.pending_state is not self.following.state
