"""What the replicas of a node need of that node, and nothing more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..logs.flushing import FlushQueue
from ..logs.host import ChannelHost, NodeHost
from ..logs.raft_manager import RaftManager
from ..metadata.snapshot_generator import SnapshotGenerator

if TYPE_CHECKING:
    from .replica_manager import ReplicaManager
    from .replication.alter_partition_manager import AlterPartitionManager
    from .replication.replica_fetcher_manager import ReplicaFetcherManager
    from .replication.replication_quotas import ReplicationQuotaManagers


class ControllerChannel(Protocol):
    """A queue of requests to the active controller."""

    def send_request(self, body: Message, version: int, done: Callable[[Any], None], *, lowest: int = 0) -> None: ...


class ControllerOfReplicas(Protocol):
    """The node's controller, as its replicas see it."""

    uncounted_bytes: int
    """Committed bytes that the snapshot generator has not counted."""

    def commit(self, records: Sequence[Message]) -> None: ...

    def report_committed_bytes(self) -> None: ...

    def partitions_lost(self, directory: Uuid, partitions: Sequence[tuple[str, int]]) -> None: ...

    def directory_lost(self, directory: Uuid, partitions: Sequence[tuple[str, int]]) -> None: ...


class BrokerOfReplicas(Protocol):
    """The node's broker, where another node may be the active controller."""

    def partitions_lost(self, partitions: Sequence[tuple[str, int]]) -> None: ...

    def log_dir_failed(self, directory: Uuid) -> None: ...


class FetchHost(NodeHost, Protocol):
    """A node, as a reader of its partitions sees it."""

    @property
    def partitions(self) -> ReplicaManager: ...

    @property
    def fetchers(self) -> ReplicaFetcherManager | None: ...

    @property
    def alter_partition_manager(self) -> AlterPartitionManager | None: ...


class ReplicaHost(FetchHost, ChannelHost, Protocol):
    """A node, as its replicas see it."""

    @property
    def controller(self) -> ControllerOfReplicas: ...

    @property
    def broker_epoch(self) -> int: ...

    @property
    def flushing(self) -> FlushQueue: ...

    @property
    def quorum(self) -> RaftManager: ...

    @property
    def snapshot_generator(self) -> SnapshotGenerator: ...

    @property
    def replication_quotas(self) -> ReplicationQuotaManagers | None: ...

    @property
    def lifecycle(self) -> BrokerOfReplicas | None: ...
