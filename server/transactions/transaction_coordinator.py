"""The transaction coordinator of a broker: the shards of `__transaction_state` that the broker
leads (KIP-98).

The hash of a transactional id selects the partition that holds it. The leader of the partition is
the coordinator (see FindCoordinator).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ..coordinator.coordinator_runtime import CoordinatorRuntime
from ..metadata.internal_topics import TRANSACTION_STATE
from ..requests.request import Refusal

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost
    from ..replica.replication.partition import Partition
    from .add_partitions_to_txn_manager import AddPartitionsToTxnManager
    from .transaction_coordinator_shard import TransactionCoordinatorShard
    from .transaction_marker_channel_manager import TransactionMarkerChannelManager


class TransactionCoordinator:
    """The transactional ids that this broker coordinates, and its requests to other coordinators
    and leaders."""

    def __init__(self, node: CoordinatorHost) -> None:
        self._node = node
        partitions_setting = "transaction.state.log.num.partitions"
        self.runtime = CoordinatorRuntime(node, TRANSACTION_STATE, partitions_setting, self._open_shard)

    @cached_property
    def markers(self) -> TransactionMarkerChannelManager:
        """Sends the markers of ended transactions."""
        from .transaction_marker_channel_manager import TransactionMarkerChannelManager

        return TransactionMarkerChannelManager(self._node)

    @cached_property
    def partitions_manager(self) -> AddPartitionsToTxnManager:
        """Adds partitions that this broker leads to transactions, or verifies them."""
        from .add_partitions_to_txn_manager import AddPartitionsToTxnManager

        return AddPartitionsToTxnManager(self._node, self.runtime.partition_of)

    def shard(self, transactional_id: str | None) -> TransactionCoordinatorShard:
        """Returns the shard of the id. Raises Refusal: INVALID_REQUEST without an id,
        NOT_COORDINATOR if it is not here."""
        if not transactional_id:
            raise Refusal(error_codes.INVALID_REQUEST)
        return self.runtime.shard(transactional_id)

    def __iter__(self) -> Iterator[TransactionCoordinatorShard]:
        return iter(self.runtime)

    def _open_shard(self, node: CoordinatorHost, partition: Partition) -> TransactionCoordinatorShard:
        """Imports the shard on first use: most clusters have no transactions."""
        from .transaction_coordinator_shard import TransactionCoordinatorShard

        return TransactionCoordinatorShard(node, partition, self.markers)

    def __repr__(self) -> str:
        return f"transaction {self.runtime!r}"
