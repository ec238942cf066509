"""What the replicas of a node need of that node, and nothing more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..logs.flushing import FlushQueue
from ..logs.host import ChannelHost, NodeHost
from ..logs.raft_manager import RaftManager
from ..metadata.image import Image
from ..metadata.snapshot_generator import SnapshotGenerator

if TYPE_CHECKING:
    from .replica_alter_log_dirs_manager import ReplicaAlterLogDirsManager
    from .replica_manager import ReplicaManager
    from .replication.alter_partition_manager import AlterPartitionManager
    from .replication.replica_fetcher_manager import ReplicaFetcherManager
    from .replication.replication_quotas import ReplicationQuotaManagers


class ControllerChannel(Protocol):
    """A queue of requests to the active controller."""

    def send_request(self, body: Message, version: int, done: Callable[[Any], None], *, lowest: int = 0) -> None: ...


class ControllerOfReplicas(Protocol):
    """The node's controller, as its replicas see it."""

    listeners: list[Callable[[Image, Image, Any], None]]
    """Called with each change of the metadata image."""

    uncounted_bytes: int
    """Committed bytes that the snapshot generator has not counted."""

    def commit(self, records: Sequence[Message]) -> None: ...

    def report_committed_bytes(self) -> None: ...

    def partitions_lost(self, directory: Uuid, partitions: Sequence[tuple[str, int]]) -> None: ...

    def directory_lost(self, directory: Uuid, partitions: Sequence[tuple[str, int]]) -> None: ...

    def assign_directory(self, topic: str, index: int, directory: Uuid) -> None: ...


class BrokerOfReplicas(Protocol):
    """The node's broker, where another node may be the active controller."""

    def partitions_lost(self, partitions: Sequence[tuple[str, int]]) -> None: ...

    def log_dir_failed(self, directory: Uuid) -> None: ...

    @property
    def is_registered_by_request(self) -> bool: ...

    def assign_directory(self, topic_id: Uuid, index: int, directory: Uuid | None) -> None: ...


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

    @property
    def has_replica_alter_log_dirs_manager(self) -> bool:
        """Whether a replica was moved between log directories."""
        ...

    @property
    def replica_alter_log_dirs_manager(self) -> ReplicaAlterLogDirsManager: ...
