"""The interfaces of the node that the parts of the replicas use. `host` is the node that has these
parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ...logs.flushing import FlushQueue
from ...logs.host import ChannelHost, NodeHost
from ...metadata.image import Image

if TYPE_CHECKING:
    from ...log.config import LogConfig
    from .fetch_validation import PartitionKey
    from .follower_partition import FollowerPartition
    from .partition import Partition
    from .replication_quotas import ReplicationQuotaManagers


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


class LedPartitions(Protocol):
    """The partitions that the node leads."""

    def get(self, topic: str, index: int) -> Partition | None: ...

    def __iter__(self) -> Iterator[Partition]: ...


class FollowedPartitions(Protocol):
    """The partitions that the node follows."""

    @property
    def partitions(self) -> Mapping[PartitionKey, FollowerPartition]: ...

    def get(self, topic: str, index: int) -> FollowerPartition | None: ...

    def follow(self, partition: FollowerPartition) -> None: ...

    def forget(self, key: PartitionKey) -> FollowerPartition | None: ...


class LogDirMoves(Protocol):
    """The moves of replicas between log directories."""

    def resume(self, key: tuple[str, int], topic_id: Uuid, config: LogConfig) -> None: ...


class LedAndFollowed(Protocol):
    """A node, as far as its replicas are there."""

    @property
    def partitions(self) -> LedPartitions: ...

    @property
    def fetchers(self) -> FollowedPartitions | None: ...


class ReplicaManagerHost(LedAndFollowed, NodeHost, Protocol):
    """A node, as its replica manager sees it."""

    @property
    def flushing(self) -> FlushQueue: ...

    @property
    def replica_alter_log_dirs_manager(self) -> LogDirMoves: ...


class ReplicationHost(ChannelHost, Protocol):
    """A node, as its replication sees it."""

    @property
    def partitions(self) -> LedPartitions: ...

    @property
    def broker_epoch(self) -> int: ...

    @property
    def flushing(self) -> FlushQueue: ...

    @property
    def replication_quotas(self) -> ReplicationQuotaManagers | None: ...


class LogDirMovesHost(LedAndFollowed, ReplicationHost, Protocol):
    """A node, as the moves of its replicas see it."""

    @property
    def controller(self) -> ControllerOfReplicas: ...

    @property
    def lifecycle(self) -> BrokerOfReplicas | None: ...
