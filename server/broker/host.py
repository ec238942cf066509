"""The parts of a node that its broker uses."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Protocol

from kafkadouble.messages.uuid import Uuid

from ..controller.controller import Controller
from ..logs.host import ChannelHost, NodeHost
from ..logs.raft_manager import RaftManager
from ..replica.host import ReplicaHost
from ..replica.replica_manager import ReplicaManager
from ..requests.answer import Answer
from ..requests.listener_spec import ListenerSpec
from ..requests.request import Request
from ..requests.waiting import Wait
from ..security.authorizer import Authorizer
from ..share.default_share_group_dlq_manager import DefaultShareGroupDLQManager
from ..share.default_state_persister import DefaultStatePersister
from ..share.partition_metadata_client import PartitionMetadataClient
from ..tracing.trace import Trace
from ..transactions.transaction_coordinator import TransactionCoordinator


class BrokerHost(ChannelHost, Protocol):
    """A node, as its broker sees it."""

    @property
    def listeners(self) -> Sequence[ListenerSpec]: ...

    @property
    def advertised(self) -> tuple[str, int]: ...

    @property
    def cluster_id(self) -> str: ...

    @property
    def incarnation_id(self) -> Uuid: ...

    @property
    def broker_epoch(self) -> int: ...

    @property
    def partitions(self) -> ReplicaManager: ...

    @property
    def controller(self) -> Controller: ...

    @property
    def authorizer(self) -> Authorizer | None: ...

    @property
    def quorum(self) -> RaftManager: ...

    @property
    def trace(self) -> Trace: ...

    def handle(self, request: Request[Any]) -> Answer | Wait[Answer]:
        """The answer to a request of the node itself, as the fault rules have it."""
        ...


class ClientMetricsHost(NodeHost, Protocol):
    """A node, as the metrics of its clients see it."""

    @property
    def random(self) -> Random: ...


class ClusterHost(BrokerHost, ReplicaHost, Protocol):
    """A node, as the parts that only a node with peers has see it."""

    @property
    def transactions(self) -> TransactionCoordinator: ...

    @property
    def has_persister(self) -> bool:
        """Whether the persister was used."""
        ...

    @property
    def persister(self) -> DefaultStatePersister: ...

    @property
    def has_partition_metadata_client(self) -> bool:
        """Whether the client was used."""
        ...

    @property
    def partition_metadata_client(self) -> PartitionMetadataClient: ...

    @property
    def has_share_group_dlq_manager(self) -> bool:
        """Whether there is a writer of dead-letter queues."""
        ...

    @property
    def share_group_dlq_manager(self) -> DefaultShareGroupDLQManager: ...
