"""What a handler may use of the node that calls it, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Protocol

from kafkadouble.messages.uuid import Uuid

from .broker.broker_lifecycle_manager import BrokerLifecycleManager
from .configs.settings import Settings
from .controller.controller import Controller
from .groups.group_coordinator import GroupCoordinator
from .logs.flushing import FlushQueue
from .logs.logs import Logs
from .logs.raft_manager import RaftManager
from .metadata.snapshot_generator import SnapshotGenerator
from .replica.fetching.fetch_sessions import FetchSessionCache
from .replica.replica_manager import ReplicaManager
from .replica.replication.alter_partition_manager import AlterPartitionManager
from .replica.replication.replica_fetcher_manager import ReplicaFetcherManager
from .replica.replication.replication_quotas import ReplicationQuotaManagers
from .requests.answer import Answer
from .requests.listener_spec import ListenerSpec
from .requests.memory_pool import MemoryPool
from .requests.request import Request
from .requests.waiting import Wait, Waiting
from .security.authorizer import Authorizer
from .tracing.trace import Trace


class HandlerContext(Protocol):
    """A node, as its handlers see it. Times are in ms."""

    id: int
    settings: Settings
    halted: str | None
    is_registered: bool
    unsent: int
    """Bytes of answers that peers have not read, over all connections."""

    @property
    def now(self) -> int: ...

    def advance(self, now: int) -> None: ...

    def stopwatch(self) -> int: ...

    @property
    def roles(self) -> frozenset[str]: ...

    @property
    def cluster_id(self) -> str: ...

    @property
    def incarnation_id(self) -> Uuid: ...

    @property
    def broker_epoch(self) -> int: ...

    @property
    def listeners(self) -> Sequence[ListenerSpec]: ...

    @property
    def advertised(self) -> tuple[str, int]: ...

    @property
    def channels(self) -> Sequence[object]: ...

    @property
    def snapshots_from(self) -> int: ...

    @property
    def random(self) -> Random: ...

    @property
    def waiting(self) -> Waiting: ...

    @property
    def trace(self) -> Trace: ...

    @property
    def intake(self) -> MemoryPool: ...

    @property
    def flushing(self) -> FlushQueue: ...

    @property
    def logs(self) -> Logs: ...

    @property
    def quorum(self) -> RaftManager: ...

    @property
    def snapshot_generator(self) -> SnapshotGenerator: ...

    @property
    def controller(self) -> Controller: ...

    @property
    def partitions(self) -> ReplicaManager: ...

    @property
    def fetch_sessions(self) -> FetchSessionCache: ...

    @property
    def groups(self) -> GroupCoordinator: ...

    @property
    def authorizer(self) -> Authorizer | None: ...

    @property
    def lifecycle(self) -> BrokerLifecycleManager | None: ...

    @property
    def fetchers(self) -> ReplicaFetcherManager | None: ...

    @property
    def alter_partition_manager(self) -> AlterPartitionManager | None: ...

    @property
    def replication_quotas(self) -> ReplicationQuotaManagers | None: ...

    def dispatch(self, request: Request[Any]) -> Answer | Wait[Answer]:
        """The answer to the request inside an Envelope, as the fault rules have it."""
        ...
