"""The interface of the node that handlers use."""

from __future__ import annotations

from typing import Any, Protocol

from .broker.client_metrics_manager import ClientMetricsManager, TelemetryExporter
from .configs.layers import Layers
from .controller.controller import Controller
from .controller.decision_host import DecisionHost
from .coordinator.host import CoordinatorHost
from .groups.service.group_coordinator import GroupCoordinator
from .logs.flushing import FlushQueue
from .logs.raft_manager import RaftManager
from .replica.fetching.fetch_sessions import FetchSessionCache
from .replica.host import FetchHost
from .replica.replica_alter_log_dirs_manager import ReplicaAlterLogDirsManager
from .replica.replication.replication_quotas import ReplicationQuotaManagers
from .requests.answer import Answer
from .requests.memory_pool import MemoryPool
from .requests.request import Request
from .requests.waiting import Wait
from .security.host import AuthorizerHost
from .share.partition_metadata_client import PartitionMetadataClient
from .share.persister import Persister
from .share.share_coordinator import ShareCoordinator
from .share.share_partition_manager import SharePartitionManager
from .tracing.trace import Trace
from .transactions.transaction_coordinator import TransactionCoordinator


class HandlerContext(DecisionHost, FetchHost, AuthorizerHost, CoordinatorHost, Protocol):
    """A node, as its handlers see it: what decisions, reads and checks of rights
    need, and the members below."""

    @property
    def cluster_id(self) -> str: ...

    @property
    def unsent(self) -> int:
        """Bytes of answers that peers have not read, over all connections."""
        ...

    @property
    def trace(self) -> Trace: ...

    @property
    def intake(self) -> MemoryPool: ...

    @property
    def flushing(self) -> FlushQueue: ...

    @property
    def quorum(self) -> RaftManager: ...

    @property
    def controller(self) -> Controller: ...

    @property
    def fetch_sessions(self) -> FetchSessionCache: ...

    @property
    def groups(self) -> GroupCoordinator: ...

    @property
    def share_partitions(self) -> SharePartitionManager: ...

    @property
    def transactions(self) -> TransactionCoordinator: ...

    @property
    def share_coordinator(self) -> ShareCoordinator: ...

    @property
    def persister(self) -> Persister: ...

    @property
    def partition_metadata_client(self) -> PartitionMetadataClient: ...

    @property
    def client_metrics(self) -> ClientMetricsManager: ...

    @property
    def telemetry(self) -> TelemetryExporter | None:
        """The receiver of the metrics of clients; None if they are dropped."""
        ...

    @property
    def replica_alter_log_dirs_manager(self) -> ReplicaAlterLogDirsManager: ...

    @property
    def replication_quotas(self) -> ReplicationQuotaManagers | None: ...

    def reload_problem(self, altered: Layers) -> str:
        """Why its listeners cannot load what these settings name, or ""."""
        ...

    def dispatch(self, request: Request[Any]) -> Answer | Wait[Answer]:
        """The answer to the request inside an Envelope, as quotas and the fault rules have it."""
        ...
