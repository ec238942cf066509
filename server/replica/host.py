"""The interface of the node that its replicas use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..logs.host import NodeHost
from ..logs.raft_manager import RaftManager
from ..metadata.snapshot_generator import SnapshotGenerator
from .replication.part_hosts import BrokerOfReplicas, ControllerOfReplicas, ReplicationHost

if TYPE_CHECKING:
    from .replica_alter_log_dirs_manager import ReplicaAlterLogDirsManager
    from .replica_manager import ReplicaManager
    from .replication.alter_partition_manager import AlterPartitionManager
    from .replication.replica_fetcher_manager import ReplicaFetcherManager


class FetchHost(NodeHost, Protocol):
    """A node, as a reader of its partitions sees it."""

    @property
    def partitions(self) -> ReplicaManager: ...

    @property
    def fetchers(self) -> ReplicaFetcherManager | None: ...

    @property
    def alter_partition_manager(self) -> AlterPartitionManager | None: ...


class ReplicaHost(FetchHost, ReplicationHost, Protocol):
    """A node, as its replicas see it."""

    @property
    def partitions(self) -> ReplicaManager: ...

    @property
    def controller(self) -> ControllerOfReplicas: ...

    @property
    def quorum(self) -> RaftManager: ...

    @property
    def snapshot_generator(self) -> SnapshotGenerator: ...

    @property
    def lifecycle(self) -> BrokerOfReplicas | None: ...

    @property
    def has_replica_alter_log_dirs_manager(self) -> bool:
        """Whether a replica was moved between log directories."""
        ...

    @property
    def replica_alter_log_dirs_manager(self) -> ReplicaAlterLogDirsManager: ...
